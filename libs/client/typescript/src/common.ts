export * from "./generated/kafeneio/common/v1/errors_pb.js";
export * from "./generated/kafeneio/common/v1/money_pb.js";
