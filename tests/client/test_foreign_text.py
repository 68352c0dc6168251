"""What others have written never steers the terminal of who reads it."""

from __future__ import annotations

import pytest
from kafeneio_client.cli.screen import complain, escape, say

EVIL = "\x1b]0;mine\x07\x1b[2J\nGood: all is well [red]x[/] \u202eabc\r\u2028y"
"""It names the window, clears the screen, adds a line of its own, and turns the rest around."""

SEEN = "?]0;mine??[2J?Good: all is well [red]x[/] ?abc??y"


def test_a_text_stays_on_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    say(f"report: {escape(EVIL)}")
    assert capsys.readouterr().out == f"report: {SEEN}\n"


def test_a_refusal_steers_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    complain(f"{EVIL}\nTwo lines.")
    shown = capsys.readouterr().err
    assert shown == SEEN.replace("[2J?", "[2J\n") + "\nTwo lines.\n"
    assert escape("") == ""
