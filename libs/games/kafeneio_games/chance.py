"""Provable chance (rule R4): every outcome follows from a secret, the seats' words and a counter.

Exactly, so that anybody can write a verifier:

* `secret` is 32 bytes; `commitment = SHA-256(secret)` is shown before any seat joins.
* `context = SHA-256("kafeneio/chance/1" || game id || for each seat in order: length || word)`:
  the label is 17 ASCII bytes, the game id is the 16 raw bytes of the UUID (`uuid.UUID(x).bytes`,
  big-endian, as its hexadecimal form reads), a length is one byte, a word 0 to 64 bytes.
* Block k = `HMAC-SHA-256(key=secret, message=context || k)`, k = 0, 1, 2 ... in 8 big-endian bytes.
  The blocks one after the other are one stream of bytes.
* `below(n)`, 1 <= n <= 256, takes bytes until one is less than 256 - 256 mod n, and returns that
  one mod n.  One byte at least is taken, also for n = 1.  A die is `1 + below(6)`.
* A shuffle goes from the last card to the second: card i swaps with card `below(i + 1)`.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from typing import Final, TypeVar

T = TypeVar("T")

SECRET_BYTES: Final = 32
WORD_BYTES_MAX: Final = 64
_LABEL: Final = b"kafeneio/chance/1"
_BLOCK_BYTES: Final = 32


def commitment(secret: bytes) -> bytes:
    """What is shown of `secret` (32 bytes) before the game: its SHA-256."""
    if len(secret) != SECRET_BYTES:
        raise ValueError(f"a secret has {SECRET_BYTES} bytes, not {len(secret)}")
    return hashlib.sha256(secret).digest()


def context(game_id: bytes, words: Sequence[bytes]) -> bytes:
    """What binds a stream to one game: `game_id` is the UUID's 16 bytes, `words` one per seat.

    A seat that added no word has the empty one.  ValueError for a wrong length.
    """
    if len(game_id) != 16:
        raise ValueError(f"a game id has 16 bytes, not {len(game_id)}")
    parts = [_LABEL, game_id]
    for word in words:
        if len(word) > WORD_BYTES_MAX:
            raise ValueError(f"a word has at most {WORD_BYTES_MAX} bytes, not {len(word)}")
        parts += [bytes([len(word)]), word]
    return hashlib.sha256(b"".join(parts)).digest()


class ProvableDraw:
    """The stream of one game as a `Draw`; `position` is how many bytes have been taken.

    It is resumed by making a new one with the position of the old.
    """

    def __init__(self, secret: bytes, context: bytes, position: int = 0) -> None:
        if len(secret) != SECRET_BYTES:
            raise ValueError(f"a secret has {SECRET_BYTES} bytes, not {len(secret)}")
        if position < 0:
            raise ValueError("a position is not negative")
        self._secret = secret
        self._context = context
        self._block_index = -1
        self._block = b""
        self.position = position

    def _byte(self) -> int:
        index, offset = divmod(self.position, _BLOCK_BYTES)
        if index != self._block_index:
            message = self._context + index.to_bytes(8, "big")
            self._block = hmac.digest(self._secret, message, "sha256")
            self._block_index = index
        self.position += 1
        return self._block[offset]

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1; 1 <= n <= 256, else ValueError."""
        if not 1 <= n <= 256:
            raise ValueError(f"below() goes from 1 to 256, not {n}")
        limit = 256 - 256 % n  # bytes from here on would make small numbers likelier (R1)
        while (byte := self._byte()) >= limit:
            pass
        return byte % n

    def shuffled(self, cards: Sequence[T]) -> tuple[T, ...]:
        """Fisher-Yates, from the last card to the second; at most 256 cards."""
        order = list(cards)
        for i in range(len(order) - 1, 0, -1):
            j = self.below(i + 1)
            order[i], order[j] = order[j], order[i]
        return tuple(order)
