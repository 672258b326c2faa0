"""Data messages of SDMX-ML and SDMX-JSON as rows or columns, for data that fits in memory.

SDMX-ML 2.1, 3.0 and 3.1 is read by pysdmx, which keeps values as they are written. SDMX-JSON 1.0, 2.0 and 2.1 is read
by :mod:`kafka_replica.data.files.messages.json`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.content import read_content
from kafka_replica.data.files.messages.blocks import Block, Columns, columns_of, rows_of
from kafka_replica.data.files.messages.ml_rows import ml_rows
from kafka_replica.errors import MissingExtraError

__all__ = ["read_data_message", "read_message_columns"]


def read_data_message(path: str | Path, content: bytes | None = None) -> list[dict[str, Any]]:
    """Return the rows of a data message, in the form of SDMX-CSV 2.0.

    Values are texts, lists of texts, or lists of dictionaries ``language`` and ``text``; None if there is no value.
    ``STRUCTURE``, ``STRUCTURE_ID`` and ``ACTION`` come first. Attributes of series, groups and data sets are repeated
    in each row. A series without observations is a row with ``~`` for the dimensions of observations, or without these
    dimensions if the series is deleted; so are, in SDMX-JSON, a group and a data set to which no row belongs.

    Args:
        path: the file, which may be compressed; see :func:`kafka_replica.data.files.content.read_content`.
        content: its content, if it was read before.

    Raises:
        DatasetError: the file is not a data message, or is damaged.
        UsageError: the file cannot be opened.
        MissingExtraError: the library for the format is not installed.
    """
    return rows_of(read_message_columns(path, content))


def read_message_columns(path: str | Path, content: bytes | None = None) -> Columns:
    """Return the columns of a data message, with the values that :func:`read_data_message` describes.

    Args:
        path: the file.
        content: its content, if it was read before.

    Raises:
        DatasetError: the file is not a data message, or is damaged.
        UsageError: the file cannot be opened.
        MissingExtraError: the library for the format is not installed.
    """
    data = read_content(path) if content is None else content
    start = data[:64].lstrip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n")[:1]
    if start == b"{":
        return _json_columns(data, str(path))
    if start == b"<":
        return columns_of(Block(1, row, {}) for row in ml_rows(data, str(path)))
    raise DatasetError(f"reading {path}: it begins with {data[:20]!r}, so it is neither SDMX-ML nor SDMX-JSON")


def _json_columns(data: bytes, where: str) -> Columns:
    try:
        from kafka_replica.data.files.messages.json import json_blocks  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError("reading SDMX-JSON data", "sdmx") from error
    return columns_of(json_blocks(data, where))
