/**
 * The client of Kafeneio for browsers: typed calls over gRPC-Web, streams that resume, a seat that
 * is held. The messages are in "@kafeneio/client/rules", "/clock", "/settlement", "/matchmaking"
 * and "/common", a module for each package of the contracts.
 */

export { create, fromJson, toJson } from "@bufbuild/protobuf";
export { durationMs, timestampDate, timestampMs } from "@bufbuild/protobuf/wkt";
export { Code } from "@connectrpc/connect";
export * from "./attendance.js";
export * from "./chance.js";
export * from "./errors.js";
export * from "./house.js";
export * from "./ids.js";
export * from "./insist.js";
export * from "./money.js";
export * from "./resumed.js";
export * from "./turn.js";
export * from "./watches.js";
