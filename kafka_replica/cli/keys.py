"""Find the record for ``get`` by its key, or by a short reference to an artefact."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Final, NamedTuple

from kafka_replica.common.wording import counted
from kafka_replica.errors import UsageError
from kafka_replica.records import Record, key_text
from kafka_replica.sdmx.errors import ArtefactNotFoundError, UrnError
from kafka_replica.sdmx.urns.urn import Urn
from kafka_replica.sdmx.urns.versions import newest
from kafka_replica.stores import Snapshot

# A URN or a part of one: [Class=]AGENCY:ID[(VERSION)][.ITEM]
_REFERENCE: Final = re.compile(
    r"(?:urn:sdmx:org\.sdmx\.infomodel\.[a-z]+\.)?(?:([A-Za-z]+)=)?([\w.\-]+):([\w@$\-]+)(?:\(([^()]*)\))?(?:\.(.+))?"
).fullmatch
_SHOWN: Final = 3
_COMPARED: Final = 20_000  # the maximum number of names to compare, so that the user does not wait long


class NamedRecord(NamedTuple):
    """A record, and the name by which a user can request it."""

    name: str
    record: Record


def find_record(snapshots: Sequence[Snapshot], wanted: str) -> Record:
    """Return the record of a key, or of the artefact that a reference such as ``SDMX:CL_FREQ(2.1)`` denotes.

    The version in a reference may be a rule (``2.0+``); a missing version means the latest.

    Args:
        snapshots: a version, with one snapshot per topic.
        wanted: the key or the reference.

    Raises:
        ArtefactNotFoundError: no record matches, or several match.
        UsageError: the text is a pattern, or names an item in an artefact.
    """
    found = [
        NamedRecord(f"{wanted} in topic {record.topic}", record)
        for snapshot in snapshots
        if (record := snapshot.get(os.fsencode(wanted))) is not None
    ]
    found = found or [named for snapshot in snapshots for named in _referenced(snapshot, wanted)]
    if len(found) > 1:
        shown = "".join(f"\n  {named.name}" for named in found)
        raise ArtefactNotFoundError(f"{wanted} matches {counted(len(found), 'record')}; give one of them:{shown}")
    if found:
        return found[0].record
    _check_names_one(wanted)
    first = snapshots[0]
    raise ArtefactNotFoundError(
        f"there is no key {key_text(os.fsencode(wanted))} in version {first.version} of {first.position}"
        f"{_hint(snapshots, wanted)}"
    )


def _check_names_one(wanted: str) -> None:
    parts = _REFERENCE(wanted)
    if "*" in wanted or "?" in wanted:
        pattern = wanted if parts is None or parts[1] else f"*={wanted}"
        raise UsageError(f'{wanted} matches several keys; list them with: kafka-replica list "{pattern}"')
    if parts is not None and parts[5]:
        whole = wanted.removesuffix(f".{parts[5]}")
        raise UsageError(f'{wanted} names an item; get the artefact that contains it: kafka-replica get "{whole}"')


def _referenced(snapshot: Snapshot, wanted: str) -> Iterator[NamedRecord]:
    """Yield the artefacts that a reference denotes, at most one of each class."""
    parts = _REFERENCE(wanted)
    if parts is None or parts[5] or "*" in wanted:
        return
    by_class: dict[str, dict[str, Urn]] = {}
    for urn in _urns(snapshot):
        if (urn.agency, urn.id) == (parts[2], parts[3]) and parts[1] in {None, urn.cls}:
            by_class.setdefault(urn.cls, {})[urn.version] = urn
    for versions in by_class.values():
        chosen = newest(parts[4] or "*", versions)
        record = None if chosen is None else snapshot.get(str(versions[chosen]))
        if chosen is not None and record is not None:
            yield NamedRecord(str(versions[chosen]), record)


def _urns(snapshot: Snapshot) -> Iterator[Urn]:
    for key in snapshot:
        try:
            urn = Urn.parse(key)
        except UrnError:
            continue
        if urn.is_maintainable:
            yield urn


def _hint(snapshots: Sequence[Snapshot], wanted: str) -> str:
    """Return a suggestion with similar keys or references; empty if there are none."""
    in_full = wanted.startswith("urn:")
    names: dict[str, str] = {}  # compared text -> shown text
    word = wanted.lower()
    for snapshot in snapshots:
        for key in snapshot:
            text = key_text(key)
            try:
                urn = Urn.parse(key)
            except UrnError:
                names[text.lower()] = text
                continue
            name = text if in_full else urn.reference
            names[name.lower()] = name
            names.setdefault(urn.id.lower(), f"{urn.agency}:{urn.id}")
    if len(names) > _COMPARED:
        start = word[:_SHOWN]
        names = {name: shown for name, shown in names.items() if name.startswith(start)}
    similar = [word] if word in names else get_close_matches(word, list(names)[:_COMPARED], _SHOWN)
    near = dict.fromkeys(names[name] for name in similar)
    return f"; did you mean {' or '.join(near)}?" if near else ""
