import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { type KafeneioError, Refused, toKafeneioError, Unreachable } from "../src/errors.js";
import { GameService } from "../src/generated/kafeneio/rules/v1/game_pb.js";
import { away, fakeHouse, GAME, refusal, thrownBy } from "./fake.js";

const GREEK = "Δεν είναι η σειρά σου.";

function refused(sentences: Record<string, string>): ConnectError {
  return refusal(Code.FailedPrecondition, "NOT_YOUR_TURN", {}, undefined, sentences);
}

test("a refusal speaks Greek to who reads Greek, and English to all others", async () => {
  const house = fakeHouse(({ service }) =>
    service(GameService, {
      getGame: () => {
        throw refused({ fr: "Ce n'est pas votre tour.", el: GREEK });
      },
    }),
  );
  const error = (await thrownBy(house.games.getGame({ gameId: GAME }))) as KafeneioError;
  expect(error).toBeInstanceOf(Refused);
  expect(error.text("el")).toBe(GREEK);
  expect(error.text("en")).toBe("not_your_turn");
  expect(error.text("fr")).toBe(error.message);
});

test("a refusal that nobody has put into Greek is shown as it is", () => {
  expect(toKafeneioError(refused({})).text("el")).toBe("not_your_turn");
  const limited = new ConnectError("too many calls", Code.ResourceExhausted);
  expect(toKafeneioError(limited).text("el")).toBe("too many calls");
});

test("that nobody has answered is said in Greek, too", () => {
  const error = toKafeneioError(away());
  expect(error).toBeInstanceOf(Unreachable);
  expect(error.text("el")).toMatch(/^Δεν ήρθε απάντηση/);
  expect(error.text("en")).toBe("nobody there");
});
