"""Read SDMX-JSON data messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, Final

import msgspec

from kafka_replica.common.json_decoders import prepared
from kafka_replica.data.files.messages.blocks import Block
from kafka_replica.data.files.messages.json.datasets import DataSetReader
from kafka_replica.data.files.messages.json.decoding import decode_part_with_constants, described_error, message_error
from kafka_replica.data.files.messages.json.errors import errors_in
from kafka_replica.data.files.messages.json.left_out_attributes import arrange_attributes
from kafka_replica.data.files.messages.json.message_objects import (
    MESSAGE,
    Body,
    DataSet,
    LeftOut,
    Message,
    Structure,
    value_if_given,
)
from kafka_replica.data.files.messages.json.message_text import open_message_text
from kafka_replica.data.files.messages.json.outline import Outline
from kafka_replica.data.files.messages.json.repeated_keys import (
    are_all_decoded,
    check_no_key_repeats,
    keys_in,
    members_of,
)
from kafka_replica.data.files.messages.json.several_values import GivenIndexes
from kafka_replica.data.files.messages.json.structures import OLD, Components, number_of_structure, structure_columns_of
from kafka_replica.data.files.messages.json.unread_members import UnreadMembers

_STRUCTURE: Final = prepared(Structure)


def json_blocks(
    file: IO[bytes], where: str, note: Callable[[Sequence[str]], object] | None = None
) -> Iterator[Block]:  # fmt: skip
    """Yield the rows of an SDMX-JSON data message 1.0, 2.0 or 2.1.

    The message is read twice: first to find the parts of its data sets, then to decode them part by part. The memory
    holds only the structures, the dimension groups and one part of about a MiB (or one series, if it is longer); in the
    first pass, also 8 bytes for each key of the series or observations of a data set.

    Args:
        file: the message, a seekable file in binary mode.
        where: the file, for errors.
        note: is called with the errors that the message lists, and with a sentence for each member that is not read, or
            that is read although it does not follow the standard.

    Raises:
        DatasetError: the data is not such a message, or violates the standard; the error names the location. It may be
            raised after blocks have been yielded.
    """
    with open_message_text(file, where) as text:
        outline = Outline(text, where)
        message, written = decode_part_with_constants(MESSAGE, outline.text, where, "", outline.offset_in_file)
        errors = errors_in(value_if_given(message.errors))
        if note is not None:
            note(errors)
        body = value_if_given(message.data) or message
        structures = _structures(body, where, errors)
        unread = UnreadMembers(where)
        if not are_all_decoded(written, _keys_of(message, body)):
            check_no_key_repeats(written, where)
            unread.search_outline(written)
        readers = _readers(body, structures, "" if body is message else "/data", outline, unread, where)
        for index, reader in enumerate(readers):
            yield from reader.blocks(outline, unread, has_unread=index in unread.data_sets, is_failed=bool(errors))
        if note is not None:
            note(unread.notes)


def _readers(
    body: Body, written: Sequence[Any], above: str, outline: Outline, unread: UnreadMembers, where: str
) -> Iterator[DataSetReader]:
    """Yield a reader of each data set. ``above`` is the JSON Pointer of the data."""
    structures: dict[int, tuple[Structure, str]] = {}
    data_sets = value_if_given(body.data_sets) or ()
    numbers = [number_of_structure(index, dataset, written, where) for index, dataset in enumerate(data_sets)]
    given = GivenIndexes(zip(data_sets, numbers, strict=True))
    for index, (dataset, number) in enumerate(zip(data_sets, numbers, strict=True)):
        path = f"dataSets[{index}]"
        if number not in structures:
            at = f"structures[{number}]" if value_if_given(body.structures) else OLD
            structures[number] = _structure(written[number], where, at), at
            unread.search_structure(written[number], at)
        structure, at = structures[number]
        structure_columns = structure_columns_of(structure, dataset)
        components = Components(structure, at, where, is_deletion=structure_columns["ACTION"] == "D")
        arrange_attributes(dataset, components, outline, path, where, unread)
        given.complete(dataset, number, components, path, unread)
        yield DataSetReader(dataset, components, structure_columns, path, f"{above}/dataSets/{index}", where)


def _structure(data: Any, where: str, path: str) -> Structure:
    try:
        return msgspec.convert(data, _STRUCTURE)
    except msgspec.ValidationError as error:
        raise message_error(where, described_error(error, path)) from error


def _structures(body: Body, where: str, errors: Sequence[str]) -> list[Any]:
    structure = value_if_given(body.structure)
    found = value_if_given(body.structures) or ([] if structure is None else [structure])
    if not found and errors:
        raise message_error(where, f"it has no data; the service reports: {'; '.join(errors)}")
    if not found:
        raise message_error(
            where,
            "it is JSON, but not an SDMX-JSON data message: it has neither 'structure' nor 'structures'; give data "
            "messages only",
        )
    return found


def _keys_of(message: Message, body: Body) -> int:
    """Return the number of keys in the outline of a message."""
    above = [message] if body is message else [message, body]
    members = [member for one in above for member in members_of(one)]
    plain = [member for member in members if not isinstance(member, Body) and member is not body.data_sets]
    return len(members) + keys_in(plain) + sum(map(_keys_of_data_set, value_if_given(body.data_sets) or ()))


def _keys_of_data_set(dataset: DataSet) -> int:
    members = members_of(dataset)
    left_out = [member for member in members if isinstance(member, LeftOut) and member.number is not None]
    return len(members) + len(left_out) + keys_in(members)
