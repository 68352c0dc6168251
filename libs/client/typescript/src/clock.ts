export * from "./generated/kafeneio/clock/v1/clock_pb.js";
export * from "./generated/kafeneio/clock/v1/events_pb.js";
