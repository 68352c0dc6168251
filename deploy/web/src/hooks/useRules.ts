import type { House } from "@kafeneio/client";
import { Language } from "@kafeneio/client/rules";
import { useTexts } from "../texts.js";
import { useHouse } from "./useHouse.js";

/** The rules of a variant by their ids, in the language of the page; undefined until they are there. */
export function useRules(
  house: House,
  variant: string,
  edition = 0,
): ReadonlyMap<string, string> | undefined {
  const { language } = useTexts();
  const asked = { variant, edition, language: language === "el" ? Language.EL : Language.EN };
  const answer = useHouse(
    () => house.rulebook.getRules(asked),
    [house, variant, edition, language],
  );
  const rules = answer.value?.rules;
  return rules && new Map(rules.map(({ rule, text }) => [rule, text]));
}
