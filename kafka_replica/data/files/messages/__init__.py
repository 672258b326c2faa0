"""Data messages of SDMX-ML and SDMX-JSON as rows.

SDMX-ML is read as a stream, in memory that does not depend on the size of the file. An SDMX-JSON message is held in
memory as a whole. Both are read here, because other libraries change values (12.40 becomes 12.4) or lose attributes.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, cast

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages.aligned import aligned
from kafka_replica.data.files.messages.json_rows import json_rows
from kafka_replica.data.files.messages.ml import MlMessage
from kafka_replica.data.validation.model import Rules
from kafka_replica.errors import UsageError
from kafka_replica.sdmx import Urn

__all__ = ["LocatedRow", "data_message_rows", "read_data_message"]

_GZIP: Final = b"\x1f\x8b"
_WIDE: Final = (b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<")
_BLANK: Final = b"\xef\xbb\xbf \t\r\n"


class LocatedRow(NamedTuple):
    """A row of a data message, and its place in the file.

    Attributes:
        line: the line of the element of its observation, series or group, from 1; None in SDMX-JSON.
        row: the values by component. A value is a text, a dictionary of texts by language, or a list of these if there
            are several.
    """

    line: int | None
    row: dict[str, Any]


def read_data_message(
    path: str | Path, rules: Rules | None = None, usages: Collection[Urn] = ()
) -> list[dict[str, Any]]:
    """Return the rows of a data message, in the form of SDMX-CSV 2.0.

    Values are texts, lists of texts, or lists of dictionaries ``language`` and ``text``; None if there is no value.
    ``STRUCTURE``, ``STRUCTURE_ID`` and ``ACTION`` come first, the first two only if the message names its structure.
    Attributes of series, groups and data sets are repeated in each row. A series without observations is a row with
    ``~`` for the dimensions of observations, or without these dimensions if the series is deleted; so is a group to
    which no row belongs.

    Args:
        path: the file, which may be compressed with gzip.
        rules: the rules of the expected structure, which tell the dimensions and attributes of groups in
            structure-specific messages apart; without them, names that are in the keys of series are dimensions.
        usages: other artefacts whose data is also data of the rules' artefact: the result of ``usages_of``.

    Raises:
        DatasetError: the file is not a data message, or is damaged.
        UsageError: the file cannot be opened.
    """
    return aligned([one.row for one in data_message_rows(path, rules, usages)])


def data_message_rows(
    path: str | Path, rules: Rules | None = None, usages: Collection[Urn] = ()
) -> Iterator[LocatedRow]:
    """Yield the rows of a data message one after the other, with their lines.

    Args:
        path: the file, which may be compressed with gzip.
        rules: see :func:`read_data_message`.
        usages: see :func:`read_data_message`.

    Raises:
        DatasetError: the file is not a data message, or is damaged.
        UsageError: the file cannot be opened.
    """
    try:
        with _opened(path) as file:
            head = file.read(1 << 12)
        start = head.lstrip(_BLANK)[:1]
        if start == b"<" or head.startswith(_WIDE):
            for line, row in MlMessage(lambda: _opened(path), str(path), rules, usages).rows():
                yield LocatedRow(line, row)
        elif start == b"{":
            with _opened(path) as file:
                yield from (LocatedRow(None, row) for row in json_rows(file.read(), str(path)))
        else:
            raise DatasetError(f"reading {path}: it begins with {head[:20]!r}, so it is neither SDMX-ML nor SDMX-JSON")
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"reading {path}: {getattr(error, 'strerror', None) or error}") from error


@contextmanager
def _opened(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file for bytes, which are decompressed."""
    with Path(path).open("rb") as file:
        is_compressed = file.read(2) == _GZIP
        file.seek(0)
        if not is_compressed:
            yield file
            return
        with gzip.open(file) as content:
            yield cast("IO[bytes]", content)
