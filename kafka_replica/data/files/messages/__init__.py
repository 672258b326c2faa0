"""Data messages of SDMX-ML and SDMX-JSON as rows. The whole message is held in memory, so this is for small data.

SDMX-ML 2.1, 3.0 and 3.1 is read by pysdmx, which keeps values as they are written. SDMX-JSON 1.0, 2.0 and 2.1 is read
here, because sdmx1 converts all values to numbers, so that 12.40 becomes 12.4, and does not read 2.0.
"""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import Any, Final

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages.aligned import aligned
from kafka_replica.data.files.messages.json_rows import json_rows
from kafka_replica.data.files.messages.ml_rows import ml_rows
from kafka_replica.errors import UsageError

__all__ = ["read_data_message"]

_GZIP: Final = b"\x1f\x8b"


def read_data_message(path: str | Path) -> list[dict[str, Any]]:
    """Return the rows of a data message, in the form of SDMX-CSV 2.0.

    Values are texts, lists of texts, or lists of dictionaries ``language`` and ``text``; None if there is no value.
    ``STRUCTURE``, ``STRUCTURE_ID`` and ``ACTION`` come first. Attributes of series, groups and data sets are repeated
    in each row. A series without observations is a row with ``~`` for the dimensions of observations, or without these
    dimensions if the series is deleted.

    Args:
        path: the file, which may be compressed with gzip.

    Raises:
        DatasetError: the file is not a data message, or is damaged.
        UsageError: the file cannot be opened.
        MissingExtraError: the file is SDMX-ML, and pysdmx is not installed.
    """
    try:
        data = Path(path).read_bytes()
        data = gzip.decompress(data) if data.startswith(_GZIP) else data
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"reading {path}: {getattr(error, 'strerror', None) or error}") from error
    start = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start == b"{":
        rows = json_rows(data, str(path))
    elif start == b"<":
        rows = ml_rows(data, str(path))
    else:
        raise DatasetError(f"reading {path}: it begins with {data[:20]!r}, so it is neither SDMX-ML nor SDMX-JSON")
    return aligned(rows)
