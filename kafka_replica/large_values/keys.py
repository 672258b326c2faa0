r"""The keys of chunks: the main key, ``\0kr-chunk/1/``, the id of the write and the number of the chunk.

The id is 32 and the number 8 hexadecimal digits, with a slash between them. 1 is the version of the format. The main
key comes first, so that filters for prefixes, and the prefix of a topic in a replica of several topics, work for
chunks too. The mark is reserved: a main key must not contain it, nor begin with it without its NUL.

Each write has an id of its own, so that a key of a chunk is written once, and later deleted. See ``splitting``.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from kafka_replica.errors import UsageError
from kafka_replica.filters import KeyFilter
from kafka_replica.records import key_text

MARK: Final = b"\0kr-chunk/"
"""The text that every key of a chunk contains, in all versions of the format."""
_REST: Final = re.compile(rb"1/([0-9a-f]{32})/([0-9a-f]{8})")
_MOST: Final = 1 << 32

WITHOUT_CHUNKS: Final = KeyFilter(lambda key: MARK not in key, "without chunks of large values")
"""The filter of a replica that needs manifests and small values only, as a writer's does."""


class ChunkKey(NamedTuple):
    """The parts of a chunk's key."""

    main: bytes
    write_id: str
    """The id of the write, 32 hexadecimal digits."""
    number: int
    """The number of the chunk, from 0."""


def chunk_key(main: bytes, write_id: str, number: int) -> bytes:
    """Return the key of a chunk."""
    return b"%b%b1/%b/%08x" % (main, MARK, write_id.encode(), number)


def is_chunk_key(key: bytes) -> bool:
    """Return whether a key is that of a chunk, in any version of the format."""
    return MARK in key


def main_key(key: bytes) -> bytes:
    """Return the main key to which a chunk belongs; other keys are returned unchanged."""
    return key.partition(MARK)[0]


def parse_chunk_key(key: bytes) -> ChunkKey | None:
    """Return the parts of a chunk's key; None if it has another form, such as that of a later version."""
    main, _, rest = key.partition(MARK)
    found = _REST.fullmatch(rest)
    return None if found is None else ChunkKey(main, found[1].decode(), int(found[2], 16))


def check_main_key(key: bytes) -> None:
    """Check that a key may be a main key.

    Raises:
        UsageError: the key contains the reserved mark.
    """
    if MARK in b"\0" + key:
        raise UsageError(f"key {key_text(key)!r} contains {key_text(MARK[1:])!r}, which is reserved for chunks")


def check_count(count: int) -> None:
    """Check that the numbers of this many chunks fit into their keys. Raises UsageError."""
    if count > _MOST:
        raise UsageError(f"a value of {count:,} chunks is too large, {_MOST:,} are possible; make the chunks larger")


def with_chunks(key_filter: KeyFilter) -> KeyFilter:
    """Return a filter that keeps chunks exactly if the given filter keeps their main key."""
    return KeyFilter(lambda key: key_filter(main_key(key)), f"{key_filter}, with chunks of large values")
