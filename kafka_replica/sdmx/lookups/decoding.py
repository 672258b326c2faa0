"""The artefacts of one version: found by key, decoded on first use, each content only once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Final, NamedTuple, Protocol

from kafka_replica.common.html_tables import html_table
from kafka_replica.common.wording import counted
from kafka_replica.records import Key, Record
from kafka_replica.sdmx.errors import ArtefactNotFoundError, MessageError, SdmxError, UrnError
from kafka_replica.sdmx.lookups.cache import Content, DecodeCache, content_of, decode_cache
from kafka_replica.sdmx.lookups.class_aliases import classes_of, urn_aliases
from kafka_replica.sdmx.lookups.companions import Companions, companions_named
from kafka_replica.sdmx.lookups.index.contents import ContentIndex
from kafka_replica.sdmx.lookups.index.dangling import DanglingIndex
from kafka_replica.sdmx.lookups.index.kept import Kept, Pending
from kafka_replica.sdmx.lookups.index.keys import KeyIndex, urn_of_key
from kafka_replica.sdmx.lookups.index.relations import Relations, chosen, keyed
from kafka_replica.sdmx.message import Message
from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.reading import read_message, size_of
from kafka_replica.sdmx.urn import Urn
from kafka_replica.sdmx.versions import is_wildcard

CONTENT_TYPE: Final = "content-type"
"""The record header that holds the media type of the value."""

_MISSES_KEPT = 1_000
_SHOWN: Final = 3
"""The maximum number of unreadable artefacts that an error names."""


class Snapshot(Protocol):
    """The part of an immutable replica version that look-ups need."""

    @property
    def version(self) -> int:
        """The number of the version."""
        ...

    def get(self, key: Key, /) -> Record | None:
        """Return the record of a key, or None."""
        ...

    def __iter__(self) -> Iterator[bytes]:
        """Iterate over all keys."""
        ...


class Indexes(NamedTuple):
    """The indexes of a version; each is built on first use."""

    keys: Kept[KeyIndex]
    contents: Kept[ContentIndex]
    dangling: Kept[DanglingIndex]

    def moved(self, changed: set[Urn] | None) -> Indexes:
        """Return the indexes of a version that differs in the records of these keys; None means that all may differ."""
        return Indexes(self.keys.moved(changed), self.contents.moved(changed), self.dangling.moved(changed))


class DecodedArtefacts:
    """The basis of all look-ups: the URNs of a version and their artefacts. Thread-safe.

    Args:
        snapshot: the version.
        cache: the cache of decoded messages; ``decode_cache``, shared by the process, by default.
        companions: whether to search the messages of other keys for artefacts without a record of their own; False
            if each message is known to hold only its key's artefact.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        *,
        cache: DecodeCache | None = None,
        companions: bool = True,
    ) -> None:
        self._snapshot = snapshot
        self._cache = decode_cache if cache is None else cache
        self._has_companions = companions
        self._indexes = Indexes(Kept(), Kept(), Kept())
        self._contents: dict[Urn, Content] = {}  # by key, for the records that were read
        self._missed: dict[tuple[str, str], Companions] = {}

    def __repr__(self) -> str:
        keys = self._indexes.keys.made
        held = "" if keys is None else f", {counted(len(keys), 'artefact')}"
        return f"<{type(self).__name__} of version {self.version}{held}>"

    def _repr_html_(self) -> str:
        keys = self._indexes.keys.made
        # Without the index, sorting would require reading all keys.
        urns = (urn for key in self._snapshot if (urn := urn_of_key(key)) is not None) if keys is None else self.urns
        rows = ((urn.cls, urn.agency, urn.id, urn.version) for urn in urns)
        columns = ("class", "agency", "id", "version")
        return html_table(repr(self)[1:-1], columns, rows, None if keys is None else len(keys), "artefact")

    @property
    def version(self) -> int:
        """The version that all results come from."""
        return self._snapshot.version

    @cached_property
    def urns(self) -> tuple[Urn, ...]:
        """The URNs of all artefacts that have a record of their own, sorted."""
        return tuple(sorted(self._keys))

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[Urn]:
        return iter(self.urns)

    def __contains__(self, urn: object) -> bool:
        if not isinstance(urn, (Urn, str)):
            return False
        try:
            wanted = Urn.parse(urn) if isinstance(urn, str) else urn
        except UrnError:
            return False
        return wanted.is_maintainable and self._holder(wanted) is not None

    # --- finding ---

    @property
    def _keys(self) -> KeyIndex:
        return self._indexes.keys.get(self._make_keys)

    def _make_keys(self, older: KeyIndex | None, changed: Pending) -> KeyIndex:
        if older is None or changed is None:
            return KeyIndex(urn for key in self._snapshot if (urn := urn_of_key(key)) is not None)
        return older.moved((urn, self._record(urn) is not None) for urn in changed)

    def _record(self, urn: Urn) -> Record | None:
        record = self._snapshot.get(str(urn))
        return record if record is not None and record.value is not None else None

    def _keyed(self, urn: Urn) -> Urn | None:
        """Return the artefact with a record of its own that an artefact's URN refers to."""
        if is_wildcard(urn.version) or self._indexes.keys.is_begun:
            return keyed(self._keys, urn)
        return next((one for one in urn_aliases(urn) if self._record(one) is not None), None)

    def _holder(self, urn: Urn) -> Urn | None:
        """Return the artefact that a reference means, or that holds the referenced item; None if it is missing."""
        wanted = urn.maintainables
        found = next((found for one in wanted if (found := self._keyed(one)) is not None), None)
        if found is None and self._has_companions:
            found = next((found for one in wanted if (found := chosen(one, list(self._companions(one))))), None)
        return found

    def _companions(self, urn: Urn) -> dict[Urn, Urn]:
        """Return the companions with this agency, id and class, each with the key of the message that contains it."""
        contents = self._indexes.contents.made
        if contents is not None:
            return Relations(self._keys, contents).companions(urn)
        return {one: key for one, key in self._companions_named(urn).found.items() if one.cls in classes_of(urn.cls)}

    def _companions_named(self, urn: Urn) -> Companions:
        name = urn.agency, urn.id
        if name not in self._missed:
            if len(self._missed) >= _MISSES_KEPT:
                self._missed.clear()
            self._missed[name] = companions_named(name, self._record, self._keys, self._message_of)
        return self._missed[name]

    def _unreadable_companion(self, urn: Urn) -> MessageError | None:
        """Return the error for an unreadable artefact in the message of another artefact's key."""
        contents = self._indexes.contents.made
        if not self._has_companions or (contents is not None and not len(contents.unreadable)):
            return None
        unreadable = self._companions_named(urn).unreadable
        found = next((unreadable[one] for one in urn_aliases(urn) if one in unreadable), None)
        record = None if found is None else self._record(found[0])
        return None if found is None or record is None else MessageError(f"{_place(record)}: {found[1]}")

    # --- decoding ---

    def _artefact(self, urn: Urn) -> Artefact:
        """Return the artefact that a URN refers to, or that holds the item the URN refers to."""
        content = self._contents.get(urn)
        message = None if content is None else self._cache.known(content)
        if message is not None and urn in message.artefacts:  # requested before, and still in the cache
            return message.artefacts[urn]
        holder = self._holder(urn)
        if holder is None:
            raise self._unreadable_companion(urn.maintainable) or self._not_found(urn.maintainable)
        return self._held(holder)

    def _held(self, artefact: Urn) -> Artefact:
        """Return an existing artefact, from its own record or from the message of another key."""
        own = self._message(artefact)
        if own is not None:
            return self._of_key(artefact, own)
        key = self._companions(artefact).get(artefact)
        message = None if key is None else self._message(key)
        if message is None:
            raise self._not_found(artefact)
        return message.artefacts[artefact]

    def _of_key(self, key: Urn, message: Message) -> Artefact:
        for one in urn_aliases(key):
            if one in message.artefacts:
                return message.artefacts[one]
        record = self._record(key)
        place = "" if record is None else f"{_place(record)}: "
        raise MessageError(place + why_not_held(key, message))

    def _message(self, key: Urn) -> Message | None:
        """Return the message of a key; None if the key has no record."""
        content = self._contents.get(key)
        known = None if content is None else self._cache.known(content)
        if known is not None:
            return known
        record = self._record(key)
        if record is None:
            return None
        content = self._contents[key] = content or content_of(record.value or b"", media_type(record))
        return self._message_of(record, content, keep=True)

    def _message_of(self, record: Record, content: Content | None = None, *, keep: bool = False) -> Message:
        value, content_type = record.value or b"", media_type(record)
        try:
            return self._cache.message(
                content or content_of(value, content_type),
                lambda: (read_message(value, content_type, on_error="collect"), size_of(value)),
                keep=keep,
            )
        except SdmxError as error:
            raise type(error)(f"{_place(record)}: {error}") from error

    def _not_found(self, urn: Urn) -> ArtefactNotFoundError:
        near = self._keys.with_id(urn.id)
        same = [one.version for one in near if (one.cls, one.agency) == (urn.cls, urn.agency)]
        if same:
            hint = f"there is version {', '.join(same[:5])} of it"
        elif near:
            hint = f"there is {', '.join(str(one) for one in near[:3])}"
        else:
            hint = "nothing here has this id"
        return ArtefactNotFoundError(f"looking up {urn}: it is not in version {self.version}; {hint}")


def partly_unreadable(record: Record, message: Message) -> MessageError:
    """Return the error for a record whose message holds unreadable artefacts besides the artefact of its key."""
    shown = "; ".join(str(one) for one in message.errors[:_SHOWN])
    more = f"; and {len(message.errors) - _SHOWN} more" if len(message.errors) > _SHOWN else ""
    count = len(message) + len(message.errors)
    return MessageError(
        f"{_place(record)}: of {counted(count, 'artefact')} in it {len(message.errors)} cannot be read: {shown}{more}"
    )


def why_not_held(key: Urn, message: Message) -> str:
    """Return why a message lacks the artefact of its key: the artefact is unreadable, or the message holds others."""
    names = set(urn_aliases(key))
    own = [one for one in message.errors if one.urn in names]
    if own:
        return own[0].reason
    held = ", ".join(str(one) for one in list(message.artefacts)[:3]) or "no artefact"
    others = "".join(f"; {one}" for one in message.errors[:_SHOWN])
    return f"the key disagrees with the content, which holds {held}{others}; have it published again"


def media_type(record: Record) -> str | None:
    """Return the media type in the header of a record."""
    return (record.header(CONTENT_TYPE) or b"").decode("latin-1") or None


def _place(record: Record) -> str:
    return f"record at {record.source}, offset {record.offset}, key {record.key[:200]!r}"
