"""Looking a text up in a table, as native expressions that plan and run fast.

A map literal of Spark is searched from its beginning for each value. Here a table is one literal of text: its entries
in buckets by CRC-32, which Python and Spark compute alike, a few entries a bucket. Tables above :data:`JOINED` entries
are frames that are joined.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from zlib import crc32

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - everyone calls it so

JOINED: Final = 100_000
"""A table with more entries is broadcast."""
_IN_A_BUCKET: Final = 4
_ENTRY, _BETWEEN, _BUCKET = "\x04", "\x05", "\x06"


def look_up(text: Column, table: Mapping[str, str]) -> Column:
    """What the table has for a text; NULL if nothing. Entries hold none of the characters 4 to 6."""
    if len(table) == 1:
        key, value = next(iter(table.items()))
        return F.when(text == F.lit(key), F.lit(value))
    count = -(-len(table) // _IN_A_BUCKET)
    buckets = [_ENTRY] * count
    for key, value in table.items():
        buckets[crc32(key.encode()) % count] += f"{key}{_BETWEEN}{value}{_ENTRY}"
    number = F.pmod(F.crc32(text.cast("binary")), F.lit(count)).cast("int")
    bucket = F.get(F.split(F.lit(_BUCKET.join(buckets)), _BUCKET), number)
    key_ = F.concat(F.lit(_ENTRY), text, F.lit(_BETWEEN))
    # Without a condition, so that each part is computed once.
    at = F.nullif(F.instr(bucket, key_), F.lit(0))
    return F.substring_index(F.substring(bucket, at + F.char_length(key_), F.lit(2**30)), _ENTRY, 1)
