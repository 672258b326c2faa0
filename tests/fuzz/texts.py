"""SDMX-EDI and any bytes, with segments, components and single bytes removed, changed, doubled or moved."""

from __future__ import annotations

import gzip
import random
from collections.abc import Sequence
from typing import Final

_PIECES: Final = (
    b"", b"\0", b"\xff", b"\xc3", b"'", b"+", b":", b"?", b"<", b"&amp;", b"]]>", b"<!DOCTYPE x>", b"\\u0000",
    b'"id":1,', b"\x1f\x8b", b"PK\x03\x04", b"\xfe\xff", b"[" * 2000, b"9" * 400,
)  # fmt: skip


def edi(samples: Sequence[bytes], seed: int) -> bytes:
    """Return a message of the samples' segments."""
    chance = random.Random(seed)
    segments = chance.choice(list(samples)).split(b"'")
    pool = [segment for sample in samples for segment in sample.split(b"'")]
    for _ in range(chance.choice((1, 1, 2, 3, 8))):
        at = chance.randrange(len(segments))
        act = chance.randrange(6)
        if act == 0 and len(segments) > 1:
            del segments[at]
        elif act == 1:
            segments.insert(at, segments[at])
        elif act == 2:
            segments.insert(at, chance.choice(pool))
        elif act == 3:
            other = chance.randrange(len(segments))
            segments[at], segments[other] = segments[other], segments[at]
        else:
            parts = segments[at].split(chance.choice((b"+", b":")))
            parts[chance.randrange(len(parts))] = chance.choice(_PIECES)
            segments[at] = chance.choice((b"+", b":")).join(parts)
    return b"'".join(segments)


def spliced(samples: Sequence[bytes], seed: int) -> bytes:
    """Return a sample with bytes removed, changed, doubled or swapped; sometimes in gzip."""
    chance = random.Random(seed)
    data = bytearray(chance.choice(list(samples)))
    for _ in range(chance.choice((1, 1, 2, 5))):
        start = chance.randrange(len(data) + 1)
        end = min(len(data), start + chance.choice((0, 1, 1, 4, 40, 400)))
        act = chance.randrange(4)
        if act == 0:
            data[start:end] = chance.choice(_PIECES)
        elif act == 1:
            data[start:start] = data[start:end]
        elif act == 2:
            del data[start:end]
        elif data:
            data[min(start, len(data) - 1)] ^= 1 << chance.randrange(8)
    made = bytes(data)
    return gzip.compress(made, 1) if chance.random() < 0.03 else made
