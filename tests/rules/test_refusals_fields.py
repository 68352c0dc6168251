"""Each field rule that stands in the protos is broken once, and the refusal names the field."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

import pytest
from buf.validate import validate_pb2
from google.protobuf.descriptor import Descriptor
from kafeneio.rules.v1 import actions_pb2
from kafeneio.rules.v1 import game_pb2 as pb

from tests.harness import SEATS
from tests.rules.refusal import refusal
from tests.rules.stage import METHODS, Stage, path_of

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("refusals of fields"),
]

Break: TypeAlias = Callable[[Any], object]
Case: TypeAlias = tuple[str, str, Break]


def put(field: str, value: object) -> Break:
    """Gives a field another value."""
    return lambda request: setattr(request, field, value)


def add(field: str, *values: object) -> Break:
    """Adds to a repeated field."""
    return lambda request: getattr(request, field).extend(values)


def only(field: str, *values: object) -> Break:
    """Replaces a repeated field."""

    def change(request: Any) -> None:
        request.ClearField(field)
        getattr(request, field).extend(values)

    return change


def terms(field: str, value: object) -> Break:
    """Changes what is to be agreed."""
    return lambda request: setattr(request.terms, field, value)


def option(name: str, value: str) -> Break:
    """Adds a house rule."""
    return lambda request: request.terms.options.update({name: value})


def timeout(seconds: int, nanos: int = 0) -> Break:
    """Sets how long to wait for the seats."""

    def change(request: pb.CreateGameRequest) -> None:
        request.join_timeout.seconds, request.join_timeout.nanos = seconds, nanos

    return change


def forfeit(reason: int, turn: int) -> Break:
    """Says why, and when."""

    def change(request: Any) -> None:
        request.reason, request.turn = reason, turn

    return change


def record(**fields: object) -> Break:
    """Brings a record of which only these fields may be wrong."""

    def change(request: pb.VerifyRecordRequest) -> None:
        given: dict[str, Any] = {"game_id": ID, "terms": pb.Terms(variant="portes")}
        request.record.CopyFrom(pb.Record(**(given | fields)))

    return change


ID: Final = "01980000-0000-7000-8000-000000000000"
Action: Final = actions_pb2.Action


def moved(start: int, die: int) -> actions_pb2.Action:
    """A checker is moved."""
    return Action(move_checker=actions_pb2.MoveChecker(start=start, die=die))


def rolled(*dice: int) -> actions_pb2.Action:
    """The dice are thrown."""
    return Action(roll_dice=actions_pb2.RollDice(dice=dice))


def opened(*dice: int) -> actions_pb2.Action:
    """The opening dice are thrown."""
    return Action(opening_throw=actions_pb2.OpeningThrow(dice=dice))


def dealt(**parts: Any) -> actions_pb2.Action:
    """Cards are dealt."""
    return Action(deal=actions_pb2.Deal(**parts))


def melded(*cards: str) -> actions_pb2.Action:
    """A run is laid."""
    run = actions_pb2.MELD_KIND_RUN
    return Action(lay_meld=actions_pb2.LayMeld(kind=run, cards=cards))


HEAP: Final = actions_pb2.Hand(cards=["*"] * 109)
BAD_IDS: Final = ("", "eleni", ID[:-1], ID + "0", ID.replace("-", ""), "{" + ID + "}", "Ü" * 36)


def _ids() -> Iterator[Case]:
    for path, method in METHODS.items():
        for name in ("request_id", "game_id"):
            if name in method.input_type.fields_by_name:
                for bad in BAD_IDS:
                    yield path, name, put(name, bad)
                yield path, name, put(name, ID.replace("8", "A"))


def _actions() -> Iterator[Case]:
    wrong: dict[str, actions_pb2.Action] = {
        ".move_checker.start": moved(0, 1),
        ".move_checker.start ": moved(26, 1),
        ".move_checker.die": moved(6, 0),
        ".move_checker.die ": moved(6, 7),
        ".roll_dice.dice": rolled(3),
        ".roll_dice.dice ": rolled(3, 3, 3),
        ".roll_dice.dice[1]": rolled(6, 7),
        ".roll_dice.dice[0]": rolled(0, 6),
        ".opening_throw.dice": opened(),
        ".opening_throw.dice[1]": opened(6, 7),
        ".first_dealer.seat": Action(first_dealer=actions_pb2.FirstDealer(seat=8)),
        ".deal.hands": dealt(hands=[actions_pb2.Hand()] * 9),
        ".deal.hands[1].cards": dealt(hands=[actions_pb2.Hand(), HEAP]),
        ".deal.turned": dealt(turned=HEAP.cards),
        ".deal.rest": dealt(rest=HEAP.cards),
        ".bid.value": Action(bid=actions_pb2.Bid(value=1000, suit=actions_pb2.SUIT_HEARTS)),
        ".bid.suit": Action(bid=actions_pb2.Bid(value=80)),
        ".bid.suit ": Action(bid=actions_pb2.Bid.FromString(b"\x08\x50\x10\x05")),
        ".contra.bid": Action(contra=actions_pb2.Contra()),
        ".contra.bid ": Action(contra=actions_pb2.Contra(bid=1000)),
        ".choose_trump.suit": Action(choose_trump=actions_pb2.ChooseTrump()),
        ".choose_trump.suit ": Action(choose_trump=actions_pb2.ChooseTrump.FromString(b"\x08\x05")),
        ".play_card.card": Action(play_card=actions_pb2.PlayCard(card="TSX")),
        ".play_card.card ": Action(play_card=actions_pb2.PlayCard(card="*")),
        ".lay_meld.kind": Action(lay_meld=actions_pb2.LayMeld(cards=["*"])),
        ".lay_meld.kind ": Action(lay_meld=actions_pb2.LayMeld.FromString(b"\x08\x03\x12\x01*")),
        ".lay_meld.cards": melded(),
        ".lay_meld.cards ": melded(*["*"] * 14),
        ".lay_meld.cards[1]": melded("TS", ""),
        ".lay_meld.cards[0]": melded("TSX"),
        ".lay_off.card": Action(lay_off=actions_pb2.LayOff(meld=1)),
        ".lay_off.card ": Action(lay_off=actions_pb2.LayOff(card="TSX", meld=1)),
        ".lay_off.meld": Action(lay_off=actions_pb2.LayOff(card="*")),
        ".lay_off.meld ": Action(lay_off=actions_pb2.LayOff(card="*", meld=1000)),
        ".lay_off.end": Action(lay_off=actions_pb2.LayOff.FromString(b"\x0a\x01*\x10\x01\x18\x03")),
        ".swap_joker.card": Action(swap_joker=actions_pb2.SwapJoker(meld=1)),
        ".swap_joker.card ": Action(swap_joker=actions_pb2.SwapJoker(card="TSX", meld=1)),
        ".swap_joker.meld": Action(swap_joker=actions_pb2.SwapJoker(card="*")),
        ".swap_joker.meld ": Action(swap_joker=actions_pb2.SwapJoker(card="*", meld=1000)),
        ".discard.card": Action(discard=actions_pb2.Discard()),
        ".discard.card ": Action(discard=actions_pb2.Discard(card="TSX")),
        ".go_out.card": Action(go_out=actions_pb2.GoOut()),
        ".go_out.card ": Action(go_out=actions_pb2.GoOut(card="TSX")),
        ".reshuffle.cards": Action(reshuffle=actions_pb2.Reshuffle(cards=HEAP.cards)),
        ".put_back.place": Action(put_back=actions_pb2.PutBack(place=1000)),
        ".notation": Action(notation="x" * 401),
    }
    for name, field in (("Act", "actions"), ("ListLegalActions", "after")):
        path = path_of(name)
        yield path, field, only(field, *[moved(6, 1)] * 33)
        for place, action in wrong.items():
            yield path, f"{field}[1]{place.strip()}", only(field, moved(6, 1), action)
    yield path_of("Act"), "actions", only("actions")


def _as_seats() -> Iterator[Case]:
    for name in ("GetGame", "ListLegalActions", "Act"):
        yield path_of(name), "as_seat", put("as_seat", 8)


CREATE, VERIFY = path_of("CreateGame"), path_of("VerifyRecord")
FORFEIT, JOIN = path_of("ForfeitSeat"), path_of("JoinGame")
CASES: Final[list[Case]] = [
    *_ids(),
    *_actions(),
    *_as_seats(),
    (CREATE, "terms", lambda request: request.ClearField("terms")),
    (CREATE, "terms.variant", terms("variant", "")),
    (CREATE, "terms.variant", terms("variant", "p" * 41)),
    (CREATE, "terms.options[]", option("", "x")),
    (CREATE, f"terms.options[{'n' * 41}]", option("n" * 41, "x")),
    (CREATE, "terms.options[rule_set]", option("rule_set", "x" * 201)),
    (CREATE, "terms.options", lambda r: r.terms.options.update({f"o{n}": "" for n in range(33)})),
    (CREATE, "player_ids", only("player_ids", "eleni")),
    (CREATE, "player_ids", only("player_ids", *"abcdefghi")),
    (CREATE, "player_ids", only("player_ids", "eleni", "eleni")),
    (CREATE, "player_ids[1]", only("player_ids", "eleni", "")),
    (CREATE, "player_ids[0]", only("player_ids", "e" * 65, "nikos")),
    (CREATE, "player_ids", add("player_ids", "maria")),  # Portes is played by two
    (CREATE, "player_ids[1]", only("player_ids", "eleni", "nik\0s")),
    (CREATE, "player_ids[1]", only("player_ids", "eleni", "computer-7")),  # a person is not
    (CREATE, "player_ids[1]", only("player_ids", "eleni", "Computer-7")),
    (CREATE, "join_timeout", timeout(0, 999_999_999)),
    (CREATE, "join_timeout", timeout(600, 1)),
    (CREATE, "join_timeout", timeout(-5)),
    (CREATE, "computer_seats", only("computer_seats", *range(8))),
    (CREATE, "computer_seats[0]", only("computer_seats", 8)),
    (CREATE, "computer_seats", only("computer_seats", 1, 1)),
    (CREATE, "computer_seats", only("computer_seats", 2)),  # Portes has seats 0 and 1
    (CREATE, "computer_seats", only("computer_seats", 0, 1)),  # one is a person
    (JOIN, "commitment", put("commitment", b"")),
    (JOIN, "commitment", put("commitment", b"x" * 31)),
    (JOIN, "commitment", put("commitment", b"x" * 33)),
    (JOIN, "word", put("word", b"x" * 65)),
    (path_of("ListLegalActions"), "page_size", put("page_size", 501)),
    (path_of("ListLegalActions"), "kind", put("kind", "k" * 41)),
    (path_of("ListLegalActions"), "page_token", put("page_token", "x" * 201)),
    (path_of("Resign"), "round", put("round", 0)),
    (FORFEIT, "seat", put("seat", 8)),
    (FORFEIT, "seat", put("seat", 2)),  # Portes has seats 0 and 1
    (FORFEIT, "reason", forfeit(0, 1)),
    (FORFEIT, "reason", forfeit(4, 1)),
    (FORFEIT, "", forfeit(actions_pb2.FORFEIT_REASON_LEFT, 1)),
    (FORFEIT, "", forfeit(actions_pb2.FORFEIT_REASON_CONNECTION_LOST, 0)),
    (FORFEIT, "", forfeit(actions_pb2.FORFEIT_REASON_TIMEOUTS_EXCEEDED, 0)),
    (path_of("AbortGame"), "reason", put("reason", "")),
    (path_of("AbortGame"), "reason", put("reason", "x" * 201)),
    (path_of("AbortGame"), "reason", put("reason", "a\0b")),
    (VERIFY, "subject", lambda request: request.Clear()),
    (VERIFY, "record.game_id", record(game_id="eleni")),
    (VERIFY, "record.terms", record(terms=None)),
    (VERIFY, "record.terms.variant", record(terms=pb.Terms())),
    (VERIFY, "record.player_ids", record(player_ids=["p"] * 9)),
    (VERIFY, "record.player_ids[1]", record(player_ids=["p", "p" * 65])),
    (VERIFY, "record.commitment", record(commitment=b"x" * 33)),
    (VERIFY, "record.secret", record(secret=b"x" * 33)),
    (VERIFY, "record.words", record(words=[b""] * 9)),
    (VERIFY, "record.words[1]", record(words=[b"", b"x" * 65])),
    (VERIFY, "record.rows", record(rows=[pb.RecordRow()] * 20_001)),
    (VERIFY, "record.rows[0].entries", record(rows=[pb.RecordRow(entries=["0 13/8"] * 201)])),
    (VERIFY, "record.rows[0].entries[0]", record(rows=[pb.RecordRow(entries=["x" * 401])])),
    (VERIFY, "record.rows[0].state_hash", record(rows=[pb.RecordRow(state_hash=b"x" * 33)])),
    (VERIFY, "record.reason", record(reason="x" * 201)),
    (VERIFY, "record.computer_seats", record(computer_seats=range(8))),
    (VERIFY, "record.computer_seats", record(computer_seats=[1, 1])),
    (VERIFY, "record.computer_seats[1]", record(computer_seats=[1, 8])),
    (path_of("ListGames"), "player_id", put("player_id", "x" * 65)),
    (path_of("ListGames"), "variant", put("variant", "x" * 41)),
    (path_of("ListGames"), "player_id", put("player_id", "nik\0s")),
    (path_of("ListGames"), "variant", put("variant", "port\0s")),
    (path_of("ListGames"), "status", put("status", 5)),
    (path_of("ListGames"), "page_size", put("page_size", 201)),
    (path_of("ListGames"), "page_token", put("page_token", "x" * 201)),
    (path_of("ListEvents"), "page_size", put("page_size", 501)),
    (path_of("GetVariant"), "variant", put("variant", "")),
    (path_of("GetVariant"), "variant", put("variant", "x" * 41)),
    (path_of("GetRules"), "variant", put("variant", "")),
    (path_of("GetRules"), "variant", put("variant", "x" * 41)),
    (path_of("GetRules"), "language", put("language", 3)),
]


@pytest.mark.parametrize(
    ("path", "field", "change"),
    CASES,
    ids=[f"{METHODS[path].name}-{field}-{n}" for n, (path, field, _) in enumerate(CASES)],
)
async def test_a_broken_rule_names_its_field(
    stage: Stage, path: str, field: str, change: Break
) -> None:
    said = stage.accepted()[path]
    change(said.request)
    before = await stage.rules.snapshot()
    refused = await refusal(
        stage.rules.send(
            path,
            said.request.SerializeToString(),
            stage.rules.credentials(said.who),
            stream=METHODS[path].server_streaming,
        )
    )
    assert refused.what == ("INVALID_ARGUMENT", "MALFORMED")
    assert refused.fields == (field,)
    assert await stage.rules.snapshot() == before


async def test_every_broken_field_is_named(stage: Stage) -> None:
    path = path_of("JoinGame")
    request = pb.JoinGameRequest(request_id="?", game_id="?", word=b"x" * 65)
    body, headers = request.SerializeToString(), stage.rules.credentials(SEATS[0])
    refused = await refusal(stage.rules.send(path, body, headers))
    assert refused.fields == ("request_id", "game_id", "commitment", "word")


def _ruled(message: Descriptor, prefix: str, above: tuple[str, ...] = ()) -> Iterator[str]:
    """The fields with a rule in a message and in those that it holds."""
    for field in message.fields:
        if field.GetOptions().HasExtension(validate_pb2.field):
            yield prefix + field.name
        inner = field.message_type
        if (
            inner is not None
            and inner.full_name.startswith("kafeneio.")
            and not inner.GetOptions().map_entry
            and inner.full_name not in above
        ):
            yield from _ruled(inner, f"{prefix}{field.name}.", (*above, inner.full_name))
    for choice in message.oneofs:
        if choice.GetOptions().HasExtension(validate_pb2.oneof):
            yield prefix + choice.name


async def test_every_rule_in_the_protos_is_broken_once() -> None:
    broken = {(path, re.sub(r"\[[^]]*\]", "", field)) for path, field, _ in CASES}
    ruled = {
        (path, field) for path, method in METHODS.items() for field in _ruled(method.input_type, "")
    }
    # The terms of a record are those of CreateGame.
    known = {(VERIFY, f"record.terms.{name}") for name in ("options",)}
    assert ruled - broken - known == set()
    assert len(ruled) > 60
