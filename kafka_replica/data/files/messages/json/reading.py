"""Read SDMX-JSON data messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kafka_replica.data.files.messages.blocks import Block
from kafka_replica.data.files.messages.json.datasets import DataSetReader
from kafka_replica.data.files.messages.json.errors import errors_in
from kafka_replica.data.files.messages.json.repeated_keys import (
    are_all_decoded,
    check_no_key_repeats,
    keys_in,
    members_of,
)
from kafka_replica.data.files.messages.json.structures import OLD, Components, number_of_structure, standing_of
from kafka_replica.data.files.messages.json.unread_members import unread_members
from kafka_replica.data.files.messages.json.wire import (
    Body,
    DataSet,
    Structure,
    decoded_message,
    decoded_structure,
    failure,
    given,
)


def json_blocks(
    data: bytes, where: str, note: Callable[[Sequence[str]], object] | None = None
) -> Iterator[Block]:  # fmt: skip
    """Yield the rows of an SDMX-JSON data message 1.0, 2.0 or 2.1.

    Series are decoded one by one, so that only the bytes, the structures and the series of one block, or the
    observations of a flat data set, are in memory.

    Args:
        data: the content of the file.
        where: the file, for errors.
        note: is called with the errors that the message lists, and with a sentence for each member that is not read.

    Raises:
        DatasetError: the data is not such a message, or violates the standard; the error names the location. It may be
            raised after blocks have been yielded.
    """
    message, data = decoded_message(data, where)
    body = given(message.data) or message
    errors = errors_in(given(message.errors))
    if note is not None:
        note(errors)
    above = "" if body is message else "/data"
    written = _structures(body, where, errors)
    keys = _keys_above(message, body)
    structures: dict[int, tuple[Structure, str]] = {}
    for place, dataset in enumerate(given(body.data_sets) or ()):
        path = f"dataSets[{place}]"
        number = number_of_structure(place, dataset, written, where)
        if number not in structures:
            at = f"structures[{number}]" if given(body.structures) else OLD
            structures[number] = decoded_structure(written[number], where, at), at
        structure, at = structures[number]
        standing = standing_of(structure, dataset)
        components = Components(structure, at, where, with_defaults=standing["ACTION"] != "D")
        reader = DataSetReader(dataset, components, standing, path, f"{above}/dataSets/{place}", where)
        keys += _keys_of(dataset)
        yield from reader.blocks()
        keys += reader.keys
    if not are_all_decoded(data, keys):
        check_no_key_repeats(data, where)
        unread = unread_members(data, where)
        if note is not None:
            note(unread)


def _structures(body: Body, where: str, errors: Sequence[str]) -> list[Any]:
    structure = given(body.structure)
    found = given(body.structures) or ([] if structure is None else [structure])
    if not found and errors:
        raise failure(where, f"it has no data; the service reports: {'; '.join(errors)}")
    if not found:
        raise failure(
            where,
            "it is JSON, but not an SDMX-JSON data message: it has neither 'structure' nor 'structures'; give data "
            "messages only",
        )
    return found


def _keys_above(message: Body, body: Body) -> int:
    """Return the number of keys in the message outside its data sets."""
    above = [message] if body is message else [message, body]
    members = [member for one in above for member in members_of(one)]
    plain = [member for member in members if not isinstance(member, Body) and member is not body.data_sets]
    return len(members) + keys_in(plain)


def _keys_of(dataset: DataSet) -> int:
    """Return the number of keys in a data set, without those inside its series and observations."""
    members = members_of(dataset)
    inner = [one for one in members if one is not dataset.series and one is not dataset.observations]
    series, observations = given(dataset.series) or {}, given(dataset.observations) or {}
    return len(members) + keys_in(inner) + len(series) + len(observations)
