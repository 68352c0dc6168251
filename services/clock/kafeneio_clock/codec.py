"""The state of a clock as the JSON in which it is stored. Fields may be added, with a default for
rows that are older; none may change its meaning."""

from __future__ import annotations

import json
from typing import Any, Final

from kafeneio_clock.turns import Cause, Credit, CreditReason, Options, Span, Turn
from kafeneio_clock.values import Forfeit, Intent, Presence, Reason, Seat, State

_encode: Final = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def write(state: State) -> str:
    """A state as text."""
    options, turn = state.options, state.turn
    value: dict[str, Any] = {
        "options": [
            options.move,
            options.grace,
            options.timeouts,
            options.silent,
            options.unknown,
        ],
        "seats": [_write_seat(seat) for seat in state.seats],
        "forfeits": [[each.seat, each.reason, each.request] for each in state.forfeits],
    }
    if turn is not None:
        value["turn"] = _write_turn(turn)
    if state.silent_since:
        value["silent_since"] = state.silent_since
    if state.paused_since:
        value["paused_since"] = state.paused_since
    if state.idle_since:
        value["idle_since"] = state.idle_since
    if state.closed:
        value["closed"] = True
    return _encode(value)


def read(text: str) -> State:
    """The inverse of `write`."""
    value = json.loads(text)
    turn = value.get("turn")
    return State(
        options=Options(*value["options"]),
        seats=tuple(map(_read_seat, value["seats"])),
        turn=None if turn is None else _read_turn(turn),
        forfeits=tuple(
            Forfeit(seat, Reason(reason), request) for seat, reason, request in value["forfeits"]
        ),
        silent_since=value.get("silent_since", 0),
        closed=value.get("closed", False),
        paused_since=value.get("paused_since", 0),
        idle_since=value.get("idle_since", 0),
    )


def write_turn(turn: Turn) -> str:
    """A turn that is kept, as text."""
    return _encode(_write_turn(turn))


def read_turn(text: str) -> Turn:
    """The inverse of `write_turn`."""
    return _read_turn(json.loads(text))


def _write_seat(seat: Seat) -> dict[str, Any]:
    value: dict[str, Any] = {
        "player": seat.player,
        "presence": seat.presence,
        "since": seat.since,
        "until": seat.until,
        "epoch": seat.epoch,
        "replica": seat.replica,
        "charged": seat.charged,
        "away": seat.away,
    }
    if seat.computer:
        value["computer"] = True
    if seat.intent is not None:
        intent = seat.intent
        value["intent"] = [intent.reason, intent.since, intent.turn, intent.request]
    return value


def _read_seat(value: dict[str, Any]) -> Seat:
    intent = value.get("intent")
    return Seat(
        player=value["player"],
        presence=Presence(value["presence"]),
        since=value["since"],
        until=value["until"],
        epoch=value["epoch"],
        replica=value["replica"],
        charged=value["charged"],
        away=value["away"],
        intent=None if intent is None else Intent(Reason(intent[0]), *intent[1:]),
        computer=value.get("computer", False),
    )


def _write_turn(turn: Turn) -> dict[str, Any]:
    return {
        "number": turn.number,
        "seat": turn.seat,
        "since": turn.since,
        "away_before": turn.away_before,
        "spans": [[each.cause, each.began, each.ended] for each in turn.spans],
        "credits": [[each.began, each.ended, each.reason] for each in turn.credits],
        "charged": turn.charged,
    }


def _read_turn(value: dict[str, Any]) -> Turn:
    return Turn(
        number=value["number"],
        seat=value["seat"],
        since=value["since"],
        away_before=value["away_before"],
        spans=tuple(Span(Cause(cause), began, ended) for cause, began, ended in value["spans"]),
        credits=tuple(
            Credit(began, ended, CreditReason(reason)) for began, ended, reason in value["credits"]
        ),
        charged=value["charged"],
    )
