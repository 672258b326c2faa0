"""Convert codelists to blocks of Arrow, and blocks to pieces; see ``lookups`` for the format."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from kafka_replica import Snapshot
from kafka_replica.sdmx import Codelist, Structures, Urn
from kafka_replica.sdmx.model import Code, ValueItem, ValueList
from kafka_replica_spark.lookups import PROBE, SAME_AS_DEFAULT, hashes


class Version(NamedTuple):
    """A version, and look-ups in it."""

    snapshot: Snapshot
    structures: Structures

    def message(self, urn: Urn) -> bytes | None:
        """Return the message in an artefact's own record; None if the artefact has no record of its own."""
        record = self.snapshot.get(str(urn))
        return None if record is None else record.value


class Block(NamedTuple):
    """A list as an Arrow stream, and the messages from which it was built."""

    urn: Urn
    data: bytes
    made_of: tuple[tuple[Urn, Urn, bytes | None], ...]
    """The lists whose codes it contains, itself first: the reference, the resolved artefact and the message of each."""


def build_block(version: Version, found: Codelist | ValueList, languages: Sequence[str] | None) -> Block:
    """Return a list in the form for look-ups, with all its codes, including inherited codes.

    Args:
        version: the version of the list.
        found: the list.
        languages: the languages of names to keep in addition to the default name; None means all.

    Raises:
        SdmxError: the list, or a list that it extends, cannot be read.
    """
    items: Mapping[str, Code | ValueItem]
    if isinstance(found, ValueList):
        values: dict[str, Code | ValueItem] = {}
        for value in found.values:
            values.setdefault(value.id, value)  # if two codes have the same id, the first wins
        items = values
    else:
        items = version.structures.expand(found).codes
    return Block(found.urn, _stream(_table(items, languages)), _made_of(version, found))


def is_same(known: Block, version: Version) -> bool:
    """Return whether a list has the same messages in a version; nothing is decoded unless the list extends others."""
    if any(message is None for _, _, message in known.made_of):
        return False
    (_, own, message), *others = known.made_of
    return version.message(own) == message and all(
        version.structures.codelist(reference).urn == urn and version.message(urn) == there
        for reference, urn, there in others
    )


def piece_of(
    blocks: Iterable[Block], number: int, elsewhere: Mapping[Urn, int], index: Mapping[str, Any]
) -> dict[str, Any]:
    """Return blocks as a piece, which also has the numbers of the pieces with the other lists.

    Args:
        blocks: the lists in this piece.
        number: the number of the piece.
        elsewhere: the number of the earlier piece of each other list.
        index: the version, its position, and other names of lists.
    """
    kept = {str(block.urn): block.data for block in blocks}
    lists = {str(urn): piece for urn, piece in elsewhere.items()} | dict.fromkeys(kept, number)
    return {**index, "probe": int(hashes([PROBE])[0]), "lists": lists, "blocks": kept}


def _table(items: Mapping[str, Code | ValueItem], languages: Sequence[str] | None) -> pa.Table:
    ids, values = list(items), list(items.values())
    keys = hashes(list(ids))
    order = np.argsort(keys, kind="stable")
    rows = {id_: row for row, id_ in enumerate(ids)}
    parents = [rows.get(getattr(value, "parent", None) or "") for value in values]
    columns: dict[str, Any] = {
        "code": pa.array(ids, pa.string()),
        "hash": pa.array(keys[order]),
        "row": pa.array(order.astype(np.int32)),
        "name": pa.array([value.name() for value in values], pa.string()),
    }
    if any(parent is not None for parent in parents):
        columns["parent"] = pa.array(parents, pa.int32())
    kept = {name.lower(): name for value in values for name in value.names} if languages is None else languages
    same: list[str] = []
    for language in kept:
        names = pa.array([value.name(language) for value in values], pa.string())
        if names.equals(columns["name"]):
            same.append(language.lower())
        else:
            columns[f"name_{language.lower()}"] = names
    return pa.table(columns).replace_schema_metadata({SAME_AS_DEFAULT: json.dumps(same)})


def _stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def _made_of(version: Version, found: Codelist | ValueList) -> tuple[tuple[Urn, Urn, bytes | None], ...]:
    known: dict[tuple[Urn, Urn], bytes | None] = {}
    waiting: list[tuple[Urn, Codelist | ValueList]] = [(found.urn, found)]
    while waiting:
        reference, one = waiting.pop()
        if (reference, one.urn) in known:
            continue
        known[reference, one.urn] = version.message(one.urn)
        if isinstance(one, Codelist):
            waiting += [(each.codelist, version.structures.codelist(each.codelist)) for each in one.extensions]
    return tuple((reference, urn, message) for (reference, urn), message in known.items())
