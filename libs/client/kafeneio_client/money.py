"""Money as a value: whole numbers of the smallest unit of one currency."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from kafeneio.common.v1 import money_pb2

CURRENCY: Final = "EUR"
"""What is meant where nothing is said."""

_DIGITS: Final = 2
# The currencies of ISO 4217 that have no cents, or more of them.
_OTHER_DIGITS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("CLP", "ISK", "JPY", "KRW", "PYG", "UGX", "VND", "XAF", "XOF", "XPF"), 0),
    **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
}
_WRITTEN: Final = re.compile(r"(\d{1,15})(?:\.(\d{1,3}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Money:
    """An amount of one currency: 12.34 EUR is Money("EUR", 1234)."""

    currency: str
    minor_units: int

    @classmethod
    def of(cls, message: money_pb2.Money) -> Self:
        """What a message of the contract says."""
        return cls(message.currency_code, message.minor_units)

    @classmethod
    def parse(cls, text: str, currency: str = CURRENCY) -> Self:
        """ "5", "5.00" as a person writes it; ValueError for anything that is no such amount."""
        digits, found = _digits(currency), _WRITTEN.fullmatch(text.strip())
        fraction = (found.group(2) or "") if found else ""
        if found is None or len(fraction) > digits:
            raise ValueError(f"{text[:40]!r} is no amount of {currency}")
        return cls(currency, int(found.group(1) + fraction.ljust(digits, "0")))

    def message(self) -> money_pb2.Money:
        """The inverse of `of`."""
        return money_pb2.Money(currency_code=self.currency, minor_units=self.minor_units)

    def __add__(self, other: Self) -> Self:
        """The sum; ValueError where the currencies differ."""
        if self.currency != other.currency:
            raise ValueError(f"{self.currency} and {other.currency} do not add up")
        return type(self)(self.currency, self.minor_units + other.minor_units)

    def __neg__(self) -> Self:
        return type(self)(self.currency, -self.minor_units)

    def __sub__(self, other: Self) -> Self:
        return self + -other

    def __str__(self) -> str:
        """ "12.34 EUR"."""
        digits = _digits(self.currency)
        whole, rest = divmod(abs(self.minor_units), 10**digits)
        sign = "-" if self.minor_units < 0 else ""
        fraction = f".{rest:0{digits}}" if digits else ""
        return f"{sign}{whole}{fraction} {self.currency}"


def _digits(currency: str) -> int:
    return _OTHER_DIGITS.get(currency, _DIGITS)
