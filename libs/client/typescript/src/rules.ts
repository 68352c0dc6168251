export * from "./generated/kafeneio/rules/v1/actions_pb.js";
export * from "./generated/kafeneio/rules/v1/events_pb.js";
export * from "./generated/kafeneio/rules/v1/game_pb.js";
export * from "./generated/kafeneio/rules/v1/rulebook_pb.js";
export * from "./generated/kafeneio/rules/v1/views_pb.js";
