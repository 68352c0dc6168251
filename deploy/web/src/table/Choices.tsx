/** Legal actions as buttons: what is not on the board or in the hand, and everything for the keyboard. */
import type { Action } from "@kafeneio/client/rules";
import { useTexts } from "../texts.js";
import { actionText } from "./actionText.js";

interface Properties {
  actions: Action[];
  onChoose: (action: Action) => void;
  class?: string;
}

export function Choices({ actions, onChoose, class: kind = "" }: Properties) {
  const { language } = useTexts();
  if (actions.length === 0) {
    return null;
  }
  return (
    <div class={`choices ${kind}`}>
      {actions.map((action) => (
        <button
          key={action.notation}
          type="button"
          data-action={action.action.case}
          data-notation={action.notation}
          onClick={() => onChoose(action)}
        >
          {actionText(action, language)}
        </button>
      ))}
    </div>
  );
}
