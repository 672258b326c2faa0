"""Validation of structure records in a replica: ``Replica(..., validator=check_structure, on_bad_record="skip")``."""

from __future__ import annotations

from typing import Final

from kafka_replica.records import Record
from kafka_replica.sdmx.errors import MessageError, UnreadableContentError, UrnError
from kafka_replica.sdmx.lookups.class_aliases import urn_aliases
from kafka_replica.sdmx.lookups.decoding import media_type, why_not_held
from kafka_replica.sdmx.lookups.quick_check import surely_holds
from kafka_replica.sdmx.model import Artefact, OpaqueArtefact
from kafka_replica.sdmx.model.base import ItemScheme, Maintainable
from kafka_replica.sdmx.reading.messages import read_message
from kafka_replica.sdmx.urns.urn import Urn


class StructureCheck:
    """A validator that raises an error for a bad structure record; ``on_bad_record`` determines the consequence.

    A record is bad if its key is not the URN of an artefact, if its message does not hold that artefact, or if the
    message cannot be read. If the topic has other keys, too, leave them out: ``key_filter=only()``.

    Args:
        whole: read each message as look-ups do. Otherwise a message is read only if its beginning and end leave its
            content unclear; then damage in the middle of SDMX-ML is detected only by the first look-up.
        stubs: False rejects stubs as bad records, too: artefacts whose content is stored elsewhere.
    """

    def __init__(self, *, whole: bool = False, stubs: bool = True) -> None:
        self._whole = whole
        self._stubs = stubs

    def __repr__(self) -> str:
        return f"StructureCheck(whole={self._whole}, stubs={self._stubs})"

    def __call__(self, record: Record) -> None:
        """Check a record.

        Raises:
            UrnError: the key is not the URN of an artefact.
            MessageError: the key disagrees with the content, or the content cannot be read.
            UnreadableContentError: a workbook without structures; a stub, if stubs are rejected.
        """
        urn = Urn.parse(record.key)
        if not urn.is_maintainable:
            raise UrnError(f"the key {urn} belongs to an item; a record's key must be the URN of an artefact")
        value, content_type = record.value or b"", media_type(record)
        if not self._whole and surely_holds(urn, value, content_type) and (self._stubs or not _may_be_hollow(urn)):
            return
        # Unreadable companions do not make the record bad: look-ups list them.
        message = read_message(value, content_type, on_error="collect")
        own = next(
            (message.artefacts[urn_alias] for urn_alias in urn_aliases(urn) if urn_alias in message.artefacts), None
        )
        if own is None:
            raise MessageError(why_not_held(urn, message))
        if not self._stubs and _is_stub(own):
            raise UnreadableContentError(f"{own.urn} is a stub: its content is elsewhere, or was left out")


check_structure: Final = StructureCheck()
"""The check with its defaults: a quick check of each record."""


def _is_stub(artefact: Artefact) -> bool:
    if artefact.is_stub:
        return True
    # Some registries send stubs without the mark. A list may be empty; other artefacts always have content.
    if isinstance(artefact, (ItemScheme, OpaqueArtefact)):
        return False
    fields = set(artefact.__struct_fields__) - set(Maintainable.__struct_fields__)
    return bool(fields) and not any(getattr(artefact, name) for name in fields)


def _may_be_hollow(urn: Urn) -> bool:
    """Return whether stubs of this class may lack the mark, so that only reading detects them."""
    return not urn.cls.lower().endswith(("scheme", "list"))
