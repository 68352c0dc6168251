export * from "./generated/kafeneio/settlement/v1/corrections_pb.js";
export * from "./generated/kafeneio/settlement/v1/events_pb.js";
export * from "./generated/kafeneio/settlement/v1/ledger_pb.js";
export * from "./generated/kafeneio/settlement/v1/settlement_pb.js";
export * from "./generated/kafeneio/settlement/v1/wallet_pb.js";
