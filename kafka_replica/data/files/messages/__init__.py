"""Data messages of SDMX-ML, SDMX-JSON and SDMX-EDI as rows or columns.

SDMX-ML and SDMX-JSON are read in parts, in memory that does not depend on the number of rows. Messages of SDMX-EDI are
held in memory as a whole. No library is used for the content, because other libraries change values (12.40 becomes
12.4) or lose attributes.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, TypeAlias, cast

from kafka_replica.common.wording import reason_of
from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.content import beginning_of, gzip_failed, is_packed_otherwise, read_content
from kafka_replica.data.files.messages.blocks import Block, Columns, columns_of, lines_of, rows_of
from kafka_replica.data.files.messages.edi import STARTS, EdiMessage, first_structure
from kafka_replica.data.files.messages.ml import MlMessage
from kafka_replica.data.gunzip import MAGIC as GZIP
from kafka_replica.data.validation.model import Rules
from kafka_replica.errors import MissingExtraError, UsageError
from kafka_replica.sdmx import Urn

__all__ = [
    "LocatedRow",
    "data_message_rows",
    "is_streamed",
    "located_blocks",
    "read_data_message",
    "read_message_columns",
    "structure_named_in",
]

_HEAD_BYTES: Final = 1 << 12
_BEFORE: Final = b"\xef\xbb\xbf\xff\xfe\0 \t\r\n"  # byte order marks, halves of characters, blanks

_Open: TypeAlias = Callable[[], AbstractContextManager[IO[bytes]]]


class LocatedRow(NamedTuple):
    """A row of a data message, and its location in the file.

    Attributes:
        line: the line of the element or segment of its observation, series or group, from 1; None in SDMX-JSON.
        row: the values by component. A value is a text, a dictionary of texts by language, or a list of such values.
        path: the JSON Pointer of its observation, series, group or data set in SDMX-JSON; None in other formats.
    """

    line: int | None
    row: dict[str, Any]
    path: str | None = None


def read_data_message(
    path: str | Path, rules: Rules | None = None, usages: Collection[Urn] = (), *, content: bytes | None = None
) -> list[dict[str, Any]]:
    """Return the rows of a data message, in the form of SDMX-CSV 2.0.

    Values are texts, lists of texts, or lists of dictionaries with the keys ``language`` and ``text``; None if there is
    no value. ``STRUCTURE``, ``STRUCTURE_ID`` and ``ACTION`` come first, the first two only if the message names its
    structure. Attributes of series, groups and data sets are repeated in each row. A series without observations is a
    row with ``~`` for the dimensions of observations, or without these dimensions if the series is deleted. The same
    applies to a group to which no row belongs and, in SDMX-JSON, to a data set to which no row belongs.

    Args:
        path: the file, which may be compressed; see :func:`kafka_replica.data.files.content.read_content`.
        rules: the rules of the expected structure, which distinguish the dimensions and attributes of groups in
            structure-specific messages; without rules, names that are in the keys of series are dimensions.
            SDMX-EDI, which does not name dimensions, cannot be read without rules, unless the same interchange contains
            the structure.
        usages: other artefacts whose data is also data of the rules' artefact: the result of ``usages_of``.
        content: the decompressed content of the file, if the caller has it already.

    Raises:
        DatasetError: the file is not a data message, or is damaged.
        UsageError: the file cannot be opened.
        MissingExtraError: the library for the format is not installed.
    """
    return rows_of(read_message_columns(path, rules, usages, content=content))


def read_message_columns(
    path: str | Path, rules: Rules | None = None, usages: Collection[Urn] = (), *, content: bytes | None = None
) -> Columns:
    """Return the columns of a data message, all of the same length.

    The values, arguments and errors are those of :func:`read_data_message`.
    """
    return columns_of(block for _, block in located_blocks(path, rules, usages, content=content))


def data_message_rows(
    path: str | Path, rules: Rules | None = None, usages: Collection[Urn] = (), *, content: bytes | None = None
) -> Iterator[LocatedRow]:
    """Yield the rows of a data message one by one, with their locations.

    The arguments and errors are those of :func:`read_data_message`.
    """
    for line, block in located_blocks(path, rules, usages, content=content):
        for at, one in enumerate(lines_of(line, block)):
            row = {**block.shared, **{name: values[at] for name, values in block.varying.items()}}
            yield LocatedRow(one, row, None if block.paths is None else block.paths[at])


def structure_named_in(path: str | Path) -> tuple[str | None, str | None] | None:
    """Return the kind and the reference of the structure that the first data set of a message names.

    They are written as in SDMX-CSV, for example ``("dataflow", "ESTAT:NA_MAIN(1.6.0)")``. Both are None if the message
    names no structure; the result is None if the message has no data, or is SDMX-EDI that names no structure.

    The errors are those of :func:`read_data_message`.
    """
    if beginning_of(str(path), _HEAD_BYTES).lstrip(_BEFORE).startswith(STARTS):
        found = first_structure(read_content(path), str(path))
        return None if found is None else ("datastructure", found)
    for one in data_message_rows(path):
        return one.row.get("STRUCTURE"), one.row.get("STRUCTURE_ID")
    return None


def located_blocks(
    path: str | Path, rules: Rules | None = None, usages: Collection[Urn] = (), *, content: bytes | None = None,
    note: Callable[[str], object] | None = None,
) -> Iterator[tuple[int | None, Block]]:  # fmt: skip
    """Yield blocks of rows, each with the line of its first row as in :class:`LocatedRow`.

    The arguments and errors are those of :func:`read_data_message`. In addition, ``note`` is called with each remark in
    the message: each entry in the footer of SDMX-ML, and each of the errors listed in SDMX-JSON; and with each remark
    on the message: parts of SDMX-ML and SDMX-JSON that were not read, and wrong numbers of segments in SDMX-EDI.
    """
    where = str(path)
    if content is None and is_packed_otherwise(where):
        content = read_content(where)
    open_: _Open = (lambda: _opened(path)) if content is None else (lambda: io.BytesIO(content))
    try:
        with open_() as file:
            head = file.read(_HEAD_BYTES)
        start = head.lstrip(_BEFORE)[:1]
        is_edi = head.lstrip(_BEFORE).startswith(STARTS)
        if start == b"<":
            message = MlMessage(open_, where, rules, usages)
            yield from message.blocks()
            _note_all((*message.footers, *message.notes), note)
        elif start == b"{":
            with _seekable(path, content) as file:
                yield from ((None, block) for block in _json_blocks(file, where, note))
        elif is_edi:
            interchange = EdiMessage(read_content(path) if content is None else content, where, rules, usages)
            yield from interchange.blocks()
            _note_all(interchange.notes, note)
        else:
            if not head:
                raise DatasetError(f"reading {path}: the file is empty")
            begin = head[:20].decode(errors="backslashreplace")
            raise DatasetError(
                f"reading {path}: it begins with {begin!r}, so it is neither SDMX-ML, SDMX-JSON nor SDMX-EDI"
            )
    except EOFError as error:
        raise gzip_failed(where, None) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise gzip_failed(where, error) from error
    except OSError as error:
        raise UsageError(f"reading {path}: {reason_of(error)}") from error


def is_streamed(path: str | Path, content: bytes | None = None) -> bool:
    """Return whether a message is SDMX-ML or SDMX-JSON, which are read in parts; SDMX-EDI is held in memory as a whole.

    Raises:
        UsageError: the file cannot be opened.
    """
    head = beginning_of(str(path), _HEAD_BYTES) if content is None else content[:_HEAD_BYTES]
    return head.lstrip(_BEFORE).startswith((b"<", b"{"))


def _note_all(texts: Iterable[str], note: Callable[[str], object] | None) -> None:
    if note is not None:
        for one in texts:
            note(one)


def _json_blocks(file: IO[bytes], where: str, note: Callable[[str], object] | None) -> Iterator[Block]:
    try:
        from kafka_replica.data.files.messages.json import json_blocks  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError("reading SDMX-JSON data", "sdmx") from error
    return json_blocks(file, where, lambda texts: _note_all(texts, note))


@contextmanager
def _opened(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file in binary mode, and decompress it while it is read if it is gzip."""
    with Path(path).open("rb") as file:
        is_compressed = file.read(2) == GZIP
        file.seek(0)
        if not is_compressed:
            yield file
            return
        with gzip.open(file) as content:
            yield cast("IO[bytes]", content)


@contextmanager
def _seekable(path: str | Path, content: bytes | None) -> Iterator[IO[bytes]]:
    """Open a file for reading at any place; the content of a compressed one is held in memory."""
    if content is not None:
        yield io.BytesIO(content)
        return
    with Path(path).open("rb") as file:
        if file.read(2) != GZIP:
            yield file
            return
    yield io.BytesIO(read_content(path))
