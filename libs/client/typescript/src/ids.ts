import { v7 } from "uuid";

/** A new UUID, version 7: for games, tickets, tables and requests. */
export function newId(): string {
  return v7();
}
