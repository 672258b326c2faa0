"""A limit for the number of different components in an SDMX-ML data message.

Each name becomes a column of all rows, even if only one row has a value for it. So without a limit, a small message
could become a huge table, and keep a thread busy.
"""

from __future__ import annotations

import re
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Final

from kafka_replica.data.errors import DatasetError

_MOST: Final = 1000
# Names of XML attributes (structure-specific data), or values of the attribute id (generic data). Possessive
# quantifiers keep the time linear.
_names = re.compile(rb"""(?<![\w.:-])(?:id\s*+=\s*+["'][^"']*+|[\w.:-]++\s*+=)""").finditer


def check_names(path: Path) -> None:
    """Check that a message names no more components than real data has.

    Raises:
        DatasetError: the message names too many components.
    """
    found = set()
    with path.open("rb") as opened, mmap(opened.fileno(), 0, access=ACCESS_READ) as content:
        for name in _names(content):
            found.add(name[0])
            if len(found) > _MOST:
                raise DatasetError(
                    f"the SDMX-ML message has more than {_MOST:,} different attributes, more than any data structure"
                )
