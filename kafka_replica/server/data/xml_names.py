"""A limit for the number of components that an SDMX-ML data message can name.

pysdmx needs about a millisecond for each of them, even if there is only one row, so that a small message could keep a
thread busy for hours.
"""

from __future__ import annotations

import re
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Final

from kafka_replica.data.errors import DatasetError

_MOST: Final = 1000
# Attributes by name (structure-specific data), or the value of id (generic data). Possessive: the time is linear.
_names = re.compile(rb"""(?<![\w.:-])(?:id\s*+=\s*+["'][^"']*+|[\w.:-]++\s*+=)""").finditer


def check_names(path: Path) -> None:
    """Check that a message names a possible number of components.

    Raises:
        DatasetError: it names more.
    """
    found = set()
    with path.open("rb") as opened, mmap(opened.fileno(), 0, access=ACCESS_READ) as content:
        for name in _names(content):
            found.add(name[0])
            if len(found) > _MOST:
                raise DatasetError(f"the SDMX-ML message has more than {_MOST:,} different attributes; no data has")
