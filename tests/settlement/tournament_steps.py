"""The steps of the stateful test that are about tournaments, of many at once, beside all others."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from tests.settlement.house import SECOND, new_id
from tests.settlement.model import Model, Tournament

numbers = st.integers(0, 2)
crashes = st.sampled_from(("", "", "", "", "before_commit", "committed"))


class TournamentSteps(RuleBasedStateMachine):
    """What the whole machine inherits; it has these."""

    names: list[str]
    model: Model
    tournaments: list[Tournament]

    def answered(
        self, name: str, *arguments: Any, crash: str = "", scene: str = "", **options: Any
    ) -> bool:
        """Whether a step is answered, killed or not."""
        raise NotImplementedError

    def chosen(self, number: int) -> Tournament | None:
        """One of them, the newest first."""
        return self.tournaments[-1 - number] if number < len(self.tournaments) else None

    @rule(
        entry_fee=st.sampled_from((0, 7, 50)),
        fee=st.sampled_from((0, 1000)),
        twice=st.booleans(),
        crash=crashes,
    )
    def open_a_tournament(self, entry_fee: int, fee: int, twice: bool, crash: str) -> None:
        tournament = Tournament(new_id(), entry_fee, fee)
        request_id = new_id()
        for _ in range(1 + twice):
            assert self.answered(
                "open_pool",
                tournament.tournament_id,
                request_id,
                entry_fee=entry_fee,
                fee=fee,
                crash=crash,
            )
        self.tournaments.append(tournament)

    @rule(
        number=numbers,
        player=st.integers(0, 2),
        taken_back=st.booleans(),
        twice=st.booleans(),
        crash=crashes,
    )
    def enter(self, number: int, player: int, taken_back: bool, twice: bool, crash: str) -> None:
        tournament = self.chosen(number)
        if tournament is None:
            return
        entry, request_id, who = new_id(), new_id(), self.names[player]
        if taken_back:  # by somebody who does not wait for the answer
            self._leave(tournament, entry, crash)
        possible = self.model.enter(tournament, entry, who)
        for _ in range(1 + twice):
            done = self.answered(
                "enter",
                tournament.tournament_id,
                [who],
                entry,
                request_id,
                crash=crash,
                scene="hold_fees",
            )
            assert done is possible

    @rule(number=numbers, which=st.integers(0, 3), crash=crashes)
    def leave(self, number: int, which: int, crash: str) -> None:
        tournament = self.chosen(number)
        if tournament and which < len(tournament.entries):
            self._leave(tournament, [*tournament.entries][which], crash)

    def _leave(self, tournament: Tournament, entry: str, crash: str) -> None:
        possible = self.model.leave(tournament, entry)
        done = self.answered(
            "leave",
            tournament.tournament_id,
            entry,
            new_id(),
            crash=crash,
            scene="release_fees",
        )
        assert done is possible

    @rule(number=numbers, turned=st.booleans(), lost=st.booleans(), crash=crashes)
    def finish(self, number: int, turned: bool, lost: bool, crash: str) -> None:
        tournament = self.chosen(number)
        if tournament is None or not tournament.entries:
            return
        order = [*tournament.entries][:: -1 if turned else 1]
        named = order[lost:]
        if not named:
            return
        request_id = new_id()
        same = tournament.first == named
        possible = same or (tournament.state == "open" and not lost)
        for _ in range(2):
            done = self.answered(
                "finish",
                tournament.tournament_id,
                [[entry] for entry in named],
                request_id,
                crash=crash,
                scene="settle_tournament",
            )
            assert done is possible
        if possible and not same:
            tournament.first = order
            self.model.award(tournament, order)

    @rule(number=numbers, crash=crashes)
    def cancel(self, number: int, crash: str) -> None:
        if tournament := self.chosen(number):
            request_id = new_id()
            possible = tournament.state != "settled"
            for _ in range(2):
                done = self.answered(
                    "cancel",
                    tournament.tournament_id,
                    request_id=request_id,
                    crash=crash,
                    scene="void_tournament",
                )
                assert done is possible
            if tournament.state == "open":
                self.model.award(tournament, None)

    @rule(number=numbers, turned=st.sampled_from((None, False, True)), crash=crashes)
    def propose_for_a_tournament(self, number: int, turned: bool | None, crash: str) -> None:
        if tournament := self.chosen(number):
            order = None if turned is None else [*tournament.entries][:: -1 if turned else 1]
            if order == []:
                return
            done = self.answered(
                "propose",
                tournament.tournament_id,
                None if order is None else [[entry] for entry in order],
                request_id=new_id(),
                crash=crash,
                scene="correct_tournament",
            )
            assert done is (tournament.state != "open")
            if done:
                tournament.proposed.append((tournament.version, order))

    @rule(number=numbers, correction=st.integers(1, 3), same=st.booleans(), crash=crashes)
    def approve_for_a_tournament(
        self, number: int, correction: int, same: bool, crash: str
    ) -> None:
        tournament = self.chosen(number)
        if tournament is None or tournament.state == "open":
            return
        known = correction <= len(tournament.proposed)
        current = known and tournament.proposed[correction - 1][0] == tournament.version
        done = self.answered(
            "approve_pool",
            tournament.tournament_id,
            correction,
            who="operator" if same else SECOND,
            request_id=new_id(),
            crash=crash,
            scene="approve_tournament",
        )
        assert done is (current and not same)
        if done:
            self.model.award(tournament, tournament.proposed[correction - 1][1])

    def tour_of_tournaments(self, crash: str) -> None:
        """Once through all of it, dying on one side of each commit."""
        self.open_a_tournament(50, 1000, True, crash)
        self.enter(0, 0, False, False, crash)
        self.enter(0, 1, True, True, crash)
        self.enter(0, 1, False, False, "")
        self.leave(0, 0, crash)
        self.enter(0, 2, False, False, "")
        self.finish(0, False, False, crash)
        self.propose_for_a_tournament(0, True, crash)
        self.approve_for_a_tournament(0, 1, False, crash)
        self.open_a_tournament(7, 0, False, "")
        self.enter(0, 0, False, False, "")
        self.cancel(0, crash)
