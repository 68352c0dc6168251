import type { Action } from "./generated/kafeneio/rules/v1/actions_pb.js";
import type {
  ActResponse,
  ListLegalActionsResponse,
} from "./generated/kafeneio/rules/v1/game_pb.js";
import type { House } from "./house.js";
import { newId } from "./ids.js";

/** What a seat may do now, or after steps that it has chosen and not sent. */
export interface Legal {
  /** The version at which that is so. */
  version: number;
  actions: Action[];
  /** Whether the chosen steps are a whole turn. */
  complete: boolean;
}

/** ListLegalActions, all pages of it. */
export async function listLegal(
  house: House,
  gameId: string,
  after: Action[] = [],
  signal?: AbortSignal,
): Promise<Legal> {
  const actions: Action[] = [];
  let page: ListLegalActionsResponse | undefined;
  do {
    const pageToken: string = page?.nextPageToken ?? "";
    const options = signal ? { signal } : {};
    page = await house.games.listLegalActions({ gameId, after, pageToken }, options);
    actions.push(...page.actions);
  } while (page.nextPageToken);
  return { version: page.version, actions, complete: page.complete };
}

/**
 * Act: play steps of one turn, all or none. `expectedVersion` is the one that the player has seen:
 * where the game has moved on since, it is refused with STALE_VERSION and nothing happens.
 *
 * To send it again after `Unreachable`, give it the `requestId` of the error.
 */
export function act(
  house: House,
  gameId: string,
  expectedVersion: number,
  actions: Action[],
  requestId: string = newId(),
): Promise<ActResponse> {
  return house.games.act({ requestId, gameId, expectedVersion, actions });
}
