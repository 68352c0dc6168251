import type { DescService } from "@bufbuild/protobuf";
import { type Client, createClient, type Transport } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";
import { ClockService } from "./generated/kafeneio/clock/v1/clock_pb.js";
import { PlayerService } from "./generated/kafeneio/matchmaking/v1/players_pb.js";
import { QuickMatchService } from "./generated/kafeneio/matchmaking/v1/quick_match_pb.js";
import { TableService } from "./generated/kafeneio/matchmaking/v1/tables_pb.js";
import { TournamentService } from "./generated/kafeneio/matchmaking/v1/tournaments_pb.js";
import { GameService } from "./generated/kafeneio/rules/v1/game_pb.js";
import { RuleBookService } from "./generated/kafeneio/rules/v1/rulebook_pb.js";
import { SettlementService } from "./generated/kafeneio/settlement/v1/settlement_pb.js";
import { WalletService } from "./generated/kafeneio/settlement/v1/wallet_pb.js";
import { houseTransport } from "./transport.js";

/** The services of a house, each with one function for each of its calls. */
export interface House {
  /** Games, from their creation to their record. */
  games: Client<typeof GameService>;
  /** What is played, and by which rules. */
  rulebook: Client<typeof RuleBookService>;
  /** Being at a table, the time, leaving. */
  clock: Client<typeof ClockService>;
  /** The queue, and tables against the house. */
  queue: Client<typeof QuickMatchService>;
  /** Tables that players open, and sit down at. */
  tables: Client<typeof TableService>;
  /** Ratings, limits, reports. */
  players: Client<typeof PlayerService>;
  /** Registration, rounds, standings. */
  tournaments: Client<typeof TournamentService>;
  /** Balances and entries. */
  wallet: Client<typeof WalletService>;
  /** Stakes and payouts. */
  settlement: Client<typeof SettlementService>;
  /** Any other service of the house. */
  client<S extends DescService>(service: S): Client<S>;
}

/** Where the house is, and who calls. */
export interface HouseOptions {
  /** Where gRPC-Web is served, e.g. "https://kafeneio.example"; a page's own origin usually. */
  baseUrl: string;
  /** The token to show; asked at each call, so that a new one counts at once. */
  token: () => string;
  /** Another transport, e.g. of a test; gRPC-Web to `baseUrl` else. */
  transport?: Transport;
}

/** Connects to a house. Nothing is sent before the first call. */
export function openHouse({ baseUrl, token, transport }: HouseOptions): House {
  const inner = transport ?? createGrpcWebTransport({ baseUrl });
  const wrapped = houseTransport(inner, token);
  const client = <S extends DescService>(service: S): Client<S> => createClient(service, wrapped);
  return {
    games: client(GameService),
    rulebook: client(RuleBookService),
    clock: client(ClockService),
    queue: client(QuickMatchService),
    tables: client(TableService),
    players: client(PlayerService),
    tournaments: client(TournamentService),
    wallet: client(WalletService),
    settlement: client(SettlementService),
    client,
  };
}
