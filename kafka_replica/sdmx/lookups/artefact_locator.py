"""The artefacts of one version by their URNs: which exist, and which record holds each."""

from __future__ import annotations

from typing import Final

from kafka_replica.sdmx.errors import ArtefactNotFoundError, MessageError, SdmxError, UrnError
from kafka_replica.sdmx.lookups.class_aliases import classes_of, urn_aliases
from kafka_replica.sdmx.lookups.companions import Companions, companions_named
from kafka_replica.sdmx.lookups.decoding import RecordDecoder, place_of
from kafka_replica.sdmx.lookups.index.indexes import Indexes
from kafka_replica.sdmx.lookups.index.keys import KeyIndex
from kafka_replica.sdmx.lookups.index.lazy_index import Pending
from kafka_replica.sdmx.lookups.index.relations import VersionRelations, chosen, keyed
from kafka_replica.sdmx.lookups.patterns import fitting, meant, pattern
from kafka_replica.sdmx.urns.urn import Urn
from kafka_replica.sdmx.urns.versions import LATEST, is_wildcard, newest

_MISSES_KEPT: Final = 1_000


class ArtefactLocator:
    """The keys of one version, and the meaning of references among them. Thread-safe.

    Args:
        decoder: the records of the version.
        indexes: the indexes of the version.
        has_companions: whether to search the messages of other keys for artefacts without a record of their own.
    """

    def __init__(self, decoder: RecordDecoder, indexes: Indexes, *, has_companions: bool) -> None:
        self.has_companions: Final = has_companions
        self._decoder = decoder
        self._indexes = indexes
        self._missed: dict[tuple[str, str], Companions] = {}

    @property
    def keys(self) -> KeyIndex:
        """The index of the keys."""
        return self._indexes.keys.get(self._make_keys)

    def _make_keys(self, older: KeyIndex | None, changed: Pending) -> KeyIndex:
        if older is None or changed is None:
            return KeyIndex(self._decoder.keys())
        return older.updated((urn, self._decoder.holds(urn)) for urn in changed)

    def find(self, cls: str = "*", agency: str = "*", id_: str = "*", version: str = "*") -> list[Urn]:
        """Return the matching URNs, sorted: see ``Structures.find``."""
        found = self.keys.find(pattern(cls), pattern(agency), pattern(id_))
        if "+" in version or version == LATEST:
            return meant(version, found)
        wanted = pattern(version)
        return sorted(urn for urn in found if fitting(wanted, urn.version))

    def exact(self, cls: str, agency: str, id_: str, version: str) -> Urn | None:
        """Return the URN of the artefact with exactly this class and version: see ``Structures.exact``."""
        own = next((one for one in self.keys.named(cls, agency, id_) if one.version == version), None)
        if own is not None:
            return own
        contents = self._indexes.contents.made
        if contents is not None and next(contents.companions((agency, id_)), None) is None:
            return None
        try:
            wanted = Urn.of(cls, agency, id_, version)
        except UrnError:
            return None
        return wanted if self.holder(wanted) == wanted else None

    def holder(self, urn: Urn) -> Urn | None:
        """Return the artefact that a reference means, or that holds the referenced item; None if it is missing."""
        wanted = urn.maintainables
        found = next((found for one in wanted if (found := self._keyed(one)) is not None), None)
        if found is None and self.has_companions:
            found = next((found for one in wanted if (found := chosen(one, list(self.companions(one))))), None)
        return found

    def existing(self, urn: Urn) -> Urn:
        """Return the artefact that a reference means, or that holds the referenced item.

        Raises:
            ArtefactNotFoundError: there is no such artefact in this version.
            MessageError: the artefact is in the message of another artefact's key, and cannot be read.
        """
        found = self.holder(urn)
        if found is None:
            raise self._unreadable_companion(urn.maintainable) or self.not_found(urn.maintainable)
        return found

    def companions(self, urn: Urn) -> dict[Urn, Urn]:
        """Return the companions with this agency, id and class, each with the key of the message that contains it."""
        contents = self._indexes.contents.made
        if contents is not None:
            return VersionRelations(self.keys, contents).companions(urn)
        return {one: key for one, key in self._companions_named(urn).found.items() if one.cls in classes_of(urn.cls)}

    def key_of(self, urn: Urn) -> Urn | None:
        """Return the key of the record that holds an artefact; None if it is missing."""
        holder = self.holder(urn)
        return holder if holder is None or holder in self.keys else self.companions(holder).get(holder)

    def means(self, target: Urn, wanted: Urn) -> bool:
        """Return whether a reference means this artefact or item of this version."""
        holder = wanted.maintainable
        same = [maintainable for maintainable in target.maintainables if maintainable.cls in classes_of(holder.cls)]
        if not same or (target.agency, target.id, target.item) != (wanted.agency, wanted.id, wanted.item):
            return False
        if not is_wildcard(target.version):
            return target.version == wanted.version
        there = (urn for cls in classes_of(holder.cls) for urn in self.find(cls, holder.agency, holder.id))
        return newest(target.version, [one.version for one in there]) == wanted.version

    def not_found(self, urn: Urn) -> ArtefactNotFoundError:
        """Return the error for a missing artefact; it names artefacts with the same id."""
        near = self.keys.with_id(urn.id)
        same = [one.version for one in near if (one.cls, one.agency) == (urn.cls, urn.agency)]
        if same:
            hint = f"it exists in version {', '.join(same[:5])}"
        elif near:
            hint = f"there is {', '.join(str(one) for one in near[:3])}"
        else:
            hint = "no artefact has this id"
        return ArtefactNotFoundError(f"looking up {urn}: it is not in version {self._decoder.snapshot.version}; {hint}")

    def _keyed(self, urn: Urn) -> Urn | None:
        """Return the artefact with a record of its own that an artefact's URN refers to."""
        if is_wildcard(urn.version) or self._indexes.keys.is_begun:
            return keyed(self.keys, urn)
        return next((urn_alias for urn_alias in urn_aliases(urn) if self._decoder.holds(urn_alias)), None)

    def _companions_named(self, urn: Urn) -> Companions:
        name = urn.agency, urn.id
        found = self._missed.get(name)
        if found is None:
            found = companions_named(name, self._decoder.record, self.keys, self._decoder.message_of)
            if len(self._missed) >= _MISSES_KEPT:
                self._missed.clear()  # other threads may do so at any time
            self._missed[name] = found
        return found

    def _unreadable_companion(self, urn: Urn) -> SdmxError | None:
        """Return the error for an unreadable artefact in the message of another artefact's key."""
        contents = self._indexes.contents.made
        if not self.has_companions or (contents is not None and not len(contents.unreadable)):
            return None
        unreadable = self._companions_named(urn).unreadable
        found = next((unreadable[urn_alias] for urn_alias in urn_aliases(urn) if urn_alias in unreadable), None)
        record = None if found is None else self._decoder.record(found[0])
        return None if found is None or record is None else MessageError(f"{place_of(record)}: {found[1]}")
