"""A person may write cards and calls as he likes; the house hears its own notation."""

from __future__ import annotations

import pytest
from kafeneio.rules.v1.views_pb2 import RummyView, TavliView, TrickCall, TrickView, View
from kafeneio_client.cli.spelling import spelled

TRICKS = View(
    tricks=TrickView(
        calls=[
            TrickCall(seat=0, call="80H"),
            TrickCall(seat=1, call="pass"),
            TrickCall(seat=2, call="capotS"),
        ]
    )
)
RUMMY = View(rummy=RummyView(game="koumkan"))
TAVLI = View(tavli=TavliView(game="portes"))


@pytest.mark.parametrize(
    ("view", "typed", "heard"),
    [
        (TAVLI, "13/8 BAR/20", ["13/8", "bar/20"]),
        (TRICKS, "js", ["JS"]),
        (TRICKS, "j♠", ["JS"]),
        (TRICKS, "10♥", ["TH"]),
        (TRICKS, "declare Th", ["declare", "TH"]),
        (TRICKS, "90h", ["90H"]),
        (TRICKS, "CapotD", ["capotD"]),
        (TRICKS, "PASS", ["pass"]),
        (TRICKS, "choose c", ["choose C"]),
        (TRICKS, "contra", ["contra 2"]),
        (TRICKS, "coinche 1", ["contra 1"]),
        (TRICKS, "surcoinche", ["recontra"]),
        (TRICKS, "nonsense", ["nonsense"]),
        (RUMMY, "draw", ["draw"]),
        (RUMMY, "meld run 4c*6c", ["meld run 4C*6C"]),
        (RUMMY, "meld group 10s10d*", ["meld group TSTD*"]),
        (RUMMY, "lay 7C 2 lay * 1 LOW", ["lay 7C 2", "lay * 1 low"]),
        (RUMMY, "lay 7c 2 discard 9s", ["lay 7C 2", "discard 9S"]),
        (RUMMY, "swap 3♣ 1", ["swap 3C 1"]),
        (RUMMY, "OUT 9s", ["out 9S"]),
        (RUMMY, "discard *", ["discard *"]),
        (RUMMY, "lay", ["lay"]),
    ],
)
def test_what_is_typed(view: View, typed: str, heard: list[str]) -> None:
    assert spelled(view, typed.split()) == heard
