"""What is off in a demonstration."""

from __future__ import annotations


class Faults(list[str]):
    """Everything that was not as it should be."""

    def expect(self, fine: bool, otherwise: str) -> None:
        """Note a fault unless everything is fine."""
        if not fine:
            self.append(otherwise)
