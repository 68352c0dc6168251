/** Which of the legal actions are about the cards that were picked up. */
import type { Action } from "@kafeneio/client/rules";

/** The cards that an action takes out of the hand. */
export function cardsOf({ action }: Action): string[] {
  switch (action.case) {
    case "layMeld":
      return action.value.cards;
    case "layOff":
    case "swapJoker":
    case "discard":
    case "goOut":
      return [action.value.card];
    default:
      return [];
  }
}

/** The actions that use exactly these cards, in whatever order they were picked up. */
export function actionsWith(actions: readonly Action[], picked: readonly string[]): Action[] {
  const wanted = [...picked].sort().join();
  return actions.filter((action) => [...cardsOf(action)].sort().join() === wanted);
}
