export * from "./generated/kafeneio/matchmaking/v1/quick_match_pb.js";
