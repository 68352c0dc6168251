"""Provable chance against a second, plain implementation, and its fairness."""

from __future__ import annotations

import hashlib
import hmac
import uuid
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafeneio_games.chance import ProvableDraw, commitment, context

SECRET = bytes(range(32))
GAME = uuid.UUID("0190163d-8694-739b-aea5-966c26f8ad91")
WORDS = (b"Kafeneio", b"")

# Worked out once by `plain_stream` below; anybody's verifier must find the same.
COMMITMENT = "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd"
VECTOR_CONTEXT = "bcd134885bb96d1f140986fb2117f7ed740483e23a2684d33f710dccb7b12893"
VECTOR_DICE = "2212212411466436155125133253441251641366"
VECTOR_SHUFFLE = (
    *(16, 3, 20, 29, 4, 24, 5, 1, 26, 2, 0, 22, 14, 21, 7, 23),
    *(19, 28, 18, 27, 25, 15, 10, 6, 8, 11, 9, 31, 17, 12, 30, 13),
)


def plain_stream(secret: bytes, game_id: bytes, words: tuple[bytes, ...], length: int) -> bytes:
    """The stream as the rule book describes it, word for word."""
    text = b"kafeneio/chance/1" + game_id
    for word in words:
        text += bytes([len(word)]) + word
    bound = hashlib.sha256(text).digest()
    stream = b""
    k = 0
    while len(stream) < length:
        stream += hmac.new(secret, bound + k.to_bytes(8, "big"), hashlib.sha256).digest()
        k += 1
    return stream[:length]


def plain_below(stream: list[int], n: int) -> int:
    """Takes from the front of `stream`."""
    while True:
        byte = stream.pop(0)
        if byte < 256 - 256 % n:
            return byte % n


def draw(position: int = 0) -> ProvableDraw:
    return ProvableDraw(SECRET, context(GAME.bytes, WORDS), position)


def test_commitment() -> None:
    assert commitment(SECRET).hex() == COMMITMENT == hashlib.sha256(SECRET).hexdigest()


def test_vectors() -> None:
    """Fixed values, which stand in the README too."""
    assert context(GAME.bytes, WORDS).hex() == VECTOR_CONTEXT
    dice = draw()
    assert "".join(str(1 + dice.below(6)) for _ in range(40)) == VECTOR_DICE
    assert draw().shuffled(range(32)) == VECTOR_SHUFFLE


@given(
    st.binary(min_size=32, max_size=32),
    st.binary(min_size=16, max_size=16),
    st.lists(st.binary(max_size=64), min_size=1, max_size=4),
    st.lists(st.integers(1, 256), max_size=60),
)
def test_same_numbers_as_the_plain_one(
    secret: bytes, game_id: bytes, words: list[bytes], bounds: list[int]
) -> None:
    engine = ProvableDraw(secret, context(game_id, words))
    stream = list(plain_stream(secret, game_id, tuple(words), 4000))
    for n in bounds:
        before = len(stream)
        assert engine.below(n) == plain_below(stream, n)
        assert before > len(stream)
    assert engine.position == 4000 - len(stream)


@given(st.binary(min_size=32, max_size=32), st.integers(0, 108))
def test_same_shuffle_as_the_plain_one(secret: bytes, size: int) -> None:
    cards = [f"card {i}" for i in range(size)]
    stream = list(plain_stream(secret, GAME.bytes, WORDS, 4000))
    expected = list(cards)
    for i in reversed(range(1, size)):
        j = plain_below(stream, i + 1)
        expected[i], expected[j] = expected[j], expected[i]
    shuffled = ProvableDraw(secret, context(GAME.bytes, WORDS)).shuffled(cards)
    assert shuffled == tuple(expected)
    assert sorted(shuffled) == sorted(cards)


@given(st.integers(0, 300))
def test_resumed_where_it_stopped(taken: int) -> None:
    whole, first = draw(), draw()
    for _ in range(taken):
        whole.below(6)
        first.below(6)
    resumed = draw(first.position)
    assert [resumed.below(100) for _ in range(20)] == [whole.below(100) for _ in range(20)]


def test_words_and_game_bind_the_stream() -> None:
    contexts = {
        context(GAME.bytes, (b"ab", b"c")),
        context(GAME.bytes, (b"a", b"bc")),
        context(GAME.bytes, (b"", b"abc")),
        context(GAME.bytes, (b"abc",)),
        context(bytes(16), (b"ab", b"c")),
    }
    assert len(contexts) == 5


@pytest.mark.parametrize("n", [0, -1, 257])
def test_below_refuses(n: int) -> None:
    with pytest.raises(ValueError, match="from 1 to 256"):
        draw().below(n)


def test_wrong_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        commitment(b"short")
    with pytest.raises(ValueError, match="32 bytes"):
        ProvableDraw(b"short", bytes(32))
    with pytest.raises(ValueError, match="16 bytes"):
        context(b"short", ())
    with pytest.raises(ValueError, match="64 bytes"):
        context(bytes(16), (bytes(65),))
    with pytest.raises(ValueError, match="negative"):
        ProvableDraw(SECRET, bytes(32), -1)


def chi_square(counts: Counter[int], kinds: int) -> float:
    expected = sum(counts.values()) / kinds
    return sum((counts[kind] - expected) ** 2 / expected for kind in range(kinds))


def test_dice_are_fair() -> None:
    """On one fixed stream: single dice, and pairs of successive dice (independence), R1."""
    dice = draw()
    thrown = [dice.below(6) for _ in range(72_000)]
    pairs = Counter(6 * a + b for a, b in zip(thrown[::2], thrown[1::2], strict=True))
    assert chi_square(Counter(thrown), 6) < 20.5  # 5 degrees of freedom, p = 0.001
    assert chi_square(pairs, 36) < 66.6  # 35 degrees of freedom, p = 0.001


def test_shuffles_are_fair() -> None:
    """Each of the 24 orders of four cards."""
    source = draw()
    orders = Counter(source.shuffled(range(4)) for _ in range(12_000))
    numbered = Counter(dict(enumerate(orders.values())))
    assert len(orders) == 24
    assert chi_square(numbered, 24) < 49.7  # 23 degrees of freedom, p = 0.001
