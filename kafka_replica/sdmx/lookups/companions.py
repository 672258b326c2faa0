"""Artefacts in the messages of other artefacts' keys, found without an index.

Older registries return everything in one message. The content of a message is known only after decoding, and decoding
all messages for one query would take too long. An artefact's id appears literally in the message, so messages without
the id are skipped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from kafka_replica.records import Record
from kafka_replica.sdmx.errors import SdmxError
from kafka_replica.sdmx.formats.shared.reading.identity import FIXED_IDS
from kafka_replica.sdmx.lookups.class_aliases import urn_aliases
from kafka_replica.sdmx.lookups.index.keys import KeyIndex
from kafka_replica.sdmx.messages.format import unpacked
from kafka_replica.sdmx.messages.message import Message, UnreadableArtefact
from kafka_replica.sdmx.urns.urn import Urn

# An id that the standard fixes may be omitted; then the class name appears instead, with a small or capital initial.
_OR_CLASS: Final = {id_: class_[1:].encode() for class_, id_ in FIXED_IDS.items()}
_PACKED: Final = (b"\x1f\x8b", b"\xff\xfe", b"\xfe\xff")


class Companions(NamedTuple):
    """The valid companions of one agency and id, each with the key of its message, and the unreadable companions."""

    found: dict[Urn, Urn]
    unreadable: dict[Urn, tuple[Urn, UnreadableArtefact]]


def companions_named(
    name: tuple[str, str],
    record_of: Callable[[Urn], Record | None],
    keys: KeyIndex,
    message_of: Callable[[Record], Message],
) -> Companions:
    """Return the companions of an agency and id.

    The function scans all values and decodes those that may hold a companion. Unreadable records are skipped.
    """
    companions = Companions({}, {})
    for key in sorted(keys):
        try:
            record = record_of(key)
            if record is None or not _may_hold(record.value or b"", name[1]):
                continue
            message = message_of(record)
        except SdmxError:
            continue
        for companion in companions_in(key, message):
            if (companion.agency, companion.id) == name and companion not in keys:
                companions.found.setdefault(companion, key)
        for error in message.errors:
            if error.urn is not None and (error.urn.agency, error.urn.id) == name and error.urn not in keys:
                companions.unreadable.setdefault(error.urn, (key, error))
    return companions


def companions_in(key: Urn, message: Message) -> list[Urn]:
    """Return the artefacts of a message other than the artefact of its key.

    A message that does not hold the artefact of its key, readable or not, is a bad record and has no companions.
    """
    own = next((urn_alias for urn_alias in urn_aliases(key) if message.holds(urn_alias)), None)
    return [] if own is None else [artefact for artefact in message.artefacts if artefact != own]


def _may_hold(value: bytes, id_: str) -> bool:
    if value[:4] == b"PK\x03\x04":
        return True
    if value[:2] in _PACKED:
        try:
            value = unpacked(value)
        except SdmxError:
            return False
    return id_.encode() in value or (id_ in _OR_CLASS and _OR_CLASS[id_] in value)
