"""Data messages of SDMX-ML, SDMX-JSON and SDMX-EDI as rows or columns.

SDMX-ML and SDMX-EDI are read as streams, SDMX-JSON in parts, in memory that does not depend on the number of rows. No
library is used for the content, because other libraries change values (12.40 becomes 12.4) or lose attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, NoReturn

from kafka_replica.common.wording import reason_of
from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.content import beginning_of, seekable_content, streamed_content
from kafka_replica.data.files.decompression import DecompressedContent, GivenContent
from kafka_replica.data.files.messages.blocks import Block, Columns, columns_of, lines_of, rows_of
from kafka_replica.data.files.messages.edi import STARTS, EdiMessage, first_structure
from kafka_replica.data.files.messages.ml import MlMessage
from kafka_replica.data.validation.model import Rules
from kafka_replica.errors import MissingExtraError, UsageError
from kafka_replica.sdmx import Urn

__all__ = [
    "LocatedRow",
    "data_message_rows",
    "located_blocks",
    "read_data_message",
    "read_message_columns",
    "structure_named_in",
]

_HEAD_BYTES: Final = 1 << 12
_BEFORE: Final = b"\xef\xbb\xbf\xff\xfe\0 \t\r\n"  # byte order marks, halves of characters, blanks


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
    path: str | Path, rules: Rules | None = None, usages: Collection[Urn] = (), *, content: GivenContent | None = None
) -> list[dict[str, Any]]:
    """Return the rows of a data message, in the form of SDMX-CSV 2.0.

    Values are texts, lists of texts, or lists of dictionaries with the keys ``language`` and ``text``; None if there is
    no value. ``STRUCTURE``, ``STRUCTURE_ID`` and ``ACTION`` come first, the first two only if the message names its
    structure. Attributes of series, groups and data sets are repeated in each row. A series without observations is a
    row with ``~`` for the dimensions of observations, or without these dimensions if the series is deleted. The same
    applies to a group to which no row belongs, and to the attributes of a data set without rows. In a deletion, the
    attributes of each level are rows of their own, and a data set that names nothing is a row that deletes all data.

    Args:
        path: the file, which may be compressed; see :func:`kafka_replica.data.files.content.read_content`.
        rules: the rules of the expected structure, which distinguish the dimensions and attributes of groups in
            structure-specific messages; without rules, names that are in the keys of series are dimensions.
            SDMX-EDI, which does not name dimensions, cannot be read without rules, unless the same interchange contains
            the structure.
        usages: other artefacts whose data is also data of the rules' artefact: the result of ``usages_of``.
        content: the content of the file, if the caller has it already: its decompressed bytes, or a file that has it.

    Raises:
        DatasetError: the file is not a data message, or is damaged.
        UsageError: the file cannot be opened.
        MissingExtraError: the library for the format is not installed.
    """
    return rows_of(read_message_columns(path, rules, usages, content=content))


def read_message_columns(
    path: str | Path, rules: Rules | None = None, usages: Collection[Urn] = (), *, content: GivenContent | None = None
) -> Columns:
    """Return the columns of a data message, all of the same length.

    The values, arguments and errors are those of :func:`read_data_message`.
    """
    return columns_of(block for _, block in located_blocks(path, rules, usages, content=content))


def data_message_rows(
    path: str | Path, rules: Rules | None = None, usages: Collection[Urn] = (), *, content: GivenContent | None = None
) -> Iterator[LocatedRow]:
    """Yield the rows of a data message one by one, with their locations.

    The arguments and errors are those of :func:`read_data_message`.
    """
    for line, block in located_blocks(path, rules, usages, content=content):
        for at, each_line in enumerate(lines_of(line, block)):
            row = {**block.shared, **{name: values[at] for name, values in block.varying.items()}}
            yield LocatedRow(each_line, row, None if block.paths is None else block.paths[at])


def structure_named_in(path: str | Path) -> tuple[str | None, str | None] | None:
    """Return the kind and the reference of the structure that the first data set of a message names.

    They are written as in SDMX-CSV, for example ``("dataflow", "ESTAT:NA_MAIN(1.6.0)")``. Both are None if the message
    names no structure; the result is None if the message has no data, or is SDMX-EDI that names no structure.

    The errors are those of :func:`read_data_message`.
    """
    where = str(path)
    if beginning_of(where, _HEAD_BYTES).lstrip(_BEFORE).startswith(STARTS):
        found = first_structure(DecompressedContent(where), where)
        return None if found is None else ("datastructure", found)
    for data_message_row in data_message_rows(path):
        return data_message_row.row.get("STRUCTURE"), data_message_row.row.get("STRUCTURE_ID")
    return None


def located_blocks(
    path: str | Path, rules: Rules | None = None, usages: Collection[Urn] = (), *, content: GivenContent | None = None,
    note: Callable[[str], object] | None = None,
) -> Iterator[tuple[int | None, Block]]:  # fmt: skip
    """Yield blocks of rows, each with the line of its first row as in :class:`LocatedRow`.

    The arguments and errors are those of :func:`read_data_message`. In addition, ``note`` is called with each remark
    that the message contains (entries in the footer of SDMX-ML, errors listed in SDMX-JSON), and with each remark about
    the message (parts of SDMX-ML and SDMX-JSON that were not read, wrong numbers of segments in SDMX-EDI).
    """
    where = str(path)
    try:
        head = beginning_of(where, _HEAD_BYTES, content)
        start = head.lstrip(_BEFORE)[:3]
        if start.startswith(b"<"):
            message = MlMessage(partial(streamed_content, path, content), where, rules, usages)
            yield from message.blocks()
            _note_all((*message.footers, *message.notes), note)
        elif start.startswith(b"{"):
            with seekable_content(path, content) as file:
                yield from ((None, block) for block in _json_blocks(file, where, note))
        elif start.startswith(STARTS):
            interchange = EdiMessage(DecompressedContent(where, content), where, rules, usages)
            yield from interchange.blocks()
            _note_all(interchange.notes, note)
        else:
            _refuse(head, where)
    except OSError as error:
        raise UsageError(f"reading {path}: {reason_of(error)}") from error


def _refuse(head: bytes, where: str) -> NoReturn:
    if not head:
        raise DatasetError(f"reading {where}: the file is empty")
    begin = head[:20].decode(errors="backslashreplace")
    raise DatasetError(f"reading {where}: it begins with {begin!r}, so it is neither SDMX-ML, SDMX-JSON nor SDMX-EDI")


def _note_all(texts: Iterable[str], note: Callable[[str], object] | None) -> None:
    if note is not None:
        for text in texts:
            note(text)


def _json_blocks(file: IO[bytes], where: str, note: Callable[[str], object] | None) -> Iterator[Block]:
    try:
        from kafka_replica.data.files.messages.json import json_blocks  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError("reading SDMX-JSON data", "sdmx") from error
    return json_blocks(file, where, lambda texts: _note_all(texts, note))
