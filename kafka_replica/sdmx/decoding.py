"""The artefacts of one version: found by their keys, decoded when they are asked for, each once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import cached_property
from typing import Final, Protocol

from kafka_replica.errors import ArtefactNotFoundError, MessageError, SdmxError, UrnError
from kafka_replica.records import Key, Record
from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.reading import read_message
from kafka_replica.sdmx.urn import Urn
from kafka_replica.sdmx.versions import is_wildcard, newest

CONTENT_TYPE: Final = "content-type"
"""The record header that holds the media type of the value."""

# What one edition calls so, another calls otherwise; the standard's own samples mix the codelists.
ALIASES: Final = {
    "ContentConstraint": ("DataConstraint",),
    "DataConstraint": ("ContentConstraint",),
    "Codelist": ("GeographicCodelist", "GeoGridCodelist"),
    "GeographicCodelist": ("Codelist",),
    "GeoGridCodelist": ("Codelist",),
}


class Snapshot(Protocol):
    """One version of a replica, as far as it is needed here: it never changes."""

    @property
    def version(self) -> int:
        """The number of the version."""
        ...

    def get(self, key: Key) -> Record | None:
        """The record of a key, or None."""
        ...

    def __iter__(self) -> Iterator[bytes]:
        """All keys."""
        ...


class _Entry:
    """One decoded artefact; the lock lets one thread decode while others wait."""

    __slots__ = ("artefact", "lock")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.artefact: Artefact | None = None


class DecodedArtefacts:
    """What look-ups stand on: the URNs of a version, and the artefact of each. Any number of threads may ask."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._entries: dict[Urn, _Entry] = {}

    @property
    def version(self) -> int:
        """The version all answers come from."""
        return self._snapshot.version

    @cached_property
    def urns(self) -> tuple[Urn, ...]:
        """The URNs of all artefacts, sorted."""
        found = []
        for key in self._snapshot:
            try:
                urn = Urn.parse(key)
            except UrnError:
                continue
            if urn.is_maintainable:
                found.append(urn)
        return tuple(sorted(found))

    @cached_property
    def _versions(self) -> dict[tuple[str, str], list[Urn]]:
        """URNs by agency and id."""
        found: dict[tuple[str, str], list[Urn]] = {}
        for urn in self.urns:
            found.setdefault((urn.agency, urn.id), []).append(urn)
        return found

    def __len__(self) -> int:
        return len(self.urns)

    def __iter__(self) -> Iterator[Urn]:
        return iter(self.urns)

    def __contains__(self, urn: object) -> bool:
        if not isinstance(urn, (Urn, str)):
            return False
        try:
            wanted = Urn.parse(urn) if isinstance(urn, str) else urn
        except UrnError:
            return False
        return wanted.is_maintainable and any(self._record(one) for one in spellings(wanted))

    def _record(self, urn: Urn) -> Record | None:
        record = self._snapshot.get(str(urn))
        return record if record is not None and record.value is not None else None

    def _artefact(self, urn: Urn) -> Artefact:
        if is_wildcard(urn.version):
            urn = self._newest(urn)
        for one in spellings(urn):
            entry = self._entries.get(one)
            if entry is None:
                record = self._record(one)
                if record is None:
                    continue
                entry = self._entries.setdefault(one, _Entry())
            with entry.lock:
                if entry.artefact is None:
                    entry.artefact = self._decoded(one)
                return entry.artefact
        raise self._not_found(urn)

    def _newest(self, urn: Urn) -> Urn:
        classes = {urn.cls, *ALIASES.get(urn.cls, ())}
        same = [one for one in self._versions.get((urn.agency, urn.id), ()) if one.cls in classes]
        version = newest(urn.version, [one.version for one in same])
        if version is None:
            raise self._not_found(urn)
        return next(one for one in same if one.version == version)

    def _decoded(self, urn: Urn) -> Artefact:
        record = self._record(urn)
        if record is None or record.value is None:
            raise self._not_found(urn)
        content_type = (record.header(CONTENT_TYPE) or b"").decode("latin-1") or None
        try:
            message = read_message(record.value, content_type)
            for one in spellings(urn):
                if one in message.artefacts:
                    return message.artefacts[one]
            held = ", ".join(str(one) for one in list(message.artefacts)[:3]) or "no artefact"
            raise MessageError(f"the key disagrees with the content, which holds {held}; have it published again")
        except SdmxError as error:
            place = f"record at {record.source}, offset {record.offset}, key {record.key[:200]!r}"
            raise type(error)(f"{place}: {error}") from error

    def _artefact_once(self, urn: Urn) -> Artefact:
        """An artefact that is there; one that is decoded for this alone is not kept."""
        entry = self._entries.get(urn)
        known = entry.artefact if entry is not None else None
        return self._decoded(urn) if known is None else known

    def _holder(self, urn: Urn) -> Urn | None:
        """The artefact of this version that a reference means, or that holds the item it means; None if none does."""
        for one in urn.maintainables:
            if is_wildcard(one.version):
                try:
                    return self._newest(one)
                except ArtefactNotFoundError:
                    continue
            for spelling in spellings(one):
                if self._record(spelling) is not None:
                    return spelling
        return None

    def _not_found(self, urn: Urn) -> ArtefactNotFoundError:
        near = [one for one in self.urns if one.id == urn.id]
        same = [one.version for one in near if (one.cls, one.agency) == (urn.cls, urn.agency)]
        if same:
            hint = f"there is version {', '.join(same[:5])} of it"
        elif near:
            hint = f"there is {', '.join(str(one) for one in near[:3])}"
        else:
            hint = "nothing here has this id"
        return ArtefactNotFoundError(f"looking up {urn}: it is not in version {self.version}; {hint}")


def spellings(urn: Urn) -> Iterator[Urn]:
    """The URN, and the same under the names other editions give its class."""
    yield urn
    for alias in ALIASES.get(urn.cls, ()):
        yield Urn(urn.package, alias, urn.agency, urn.id, urn.version)
