"""Splitting of a structure message into one message per artefact, in the same format."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kafka_replica.common.wording import counted
from kafka_replica.sdmx.formats.json_shared.splitting import artefacts_of, message_of
from kafka_replica.sdmx.formats.registry import reader, xml_reader
from kafka_replica.sdmx.formats.shared.reading.error_collector import STRICT, ErrorCollector
from kafka_replica.sdmx.formats.shared.reading.standalone_items import is_synthetic
from kafka_replica.sdmx.messages.format import Format, of_content_type
from kafka_replica.sdmx.messages.message import UnreadableArtefact, twice
from kafka_replica.sdmx.reading.messages import kind_of, opened_json, read_message
from kafka_replica.sdmx.urns.urn import Urn


class MessagePart(NamedTuple):
    """An artefact: its URN, a message that holds only this artefact, and that message's media type."""

    urn: Urn
    value: bytes
    content_type: str

    def __repr__(self) -> str:
        return f"<MessagePart {self.urn}, {counted(len(self.value), 'byte')} of {self.content_type}>"

    @property
    def is_synthetic(self) -> bool:
        """True for a scheme that the reader creates for standalone items; other messages may hold more items."""
        format_ = of_content_type(self.content_type)
        return format_ is not None and is_synthetic(self.urn, format_)


class SplitMessage(NamedTuple):
    """The parts of the readable artefacts of a message, and an entry for each unreadable artefact."""

    parts: list[MessagePart]
    errors: tuple[UnreadableArtefact, ...]

    def __repr__(self) -> str:
        return f"<SplitMessage, {counted(len(self.parts), 'part')}, {len(self.errors):,} unreadable>"


def split_readable(data: bytes, content_type: str | None = None) -> SplitMessage:
    """Return a part for each readable artefact, and the reasons why the others cannot be read.

    A part is the result of :func:`split_message` for an artefact; that function does not read the artefacts.

    Raises:
        MessageError: the message is damaged, hostile, or not a structure message.
        UnreadableContentError: an SDMX format that this version cannot split.
    """
    message = read_message(data, content_type, on_error="collect")
    collector = ErrorCollector("collect")
    format_, messages = _split(data, content_type, collector)
    parts = [MessagePart(urn, value, str(format_)) for urn, value in messages if urn in message.artefacts]
    # Splitting finds some of the errors again that reading has found.
    return SplitMessage(parts, tuple(dict.fromkeys([*message.errors, *collector.errors])))


def split_message(data: bytes, content_type: str | None = None) -> list[MessagePart]:
    """Return a message for each maintainable artefact, of every class, in order; header and format stay the same.

    Every format that can be read can be split, plain or compressed with gzip; parts are plain, in UTF-8 (those of
    SDMX-EDI in the encoding of the whole). The URN is made from the artefact's own class, agency, id and version,
    regardless of the URN that the artefact carries. Availability constraints (3.1) are left out: they have no URN that
    could be their key.

    Raises:
        MessageError: the message is damaged, hostile, not a structure message, or holds an artefact twice.
        UnreadableContentError: an SDMX format that this version cannot split.
    """
    format_, messages = _split(data, content_type, STRICT)
    parts: dict[Urn, MessagePart] = {}
    for urn, value in messages:
        if urn in parts:
            raise twice(urn)
        parts[urn] = MessagePart(urn, value, str(format_))
    return list(parts.values())


def _split(
    data: bytes, content_type: str | None, collector: ErrorCollector
) -> tuple[Format, Iterable[tuple[Urn, bytes]]]:
    kind, plain = kind_of(data, content_type)
    if kind == "xml":
        return xml_reader().split_message(plain, collector)
    if kind != "json":
        return reader(kind).split_message(plain, collector)
    message = opened_json(plain, content_type, collector)
    artefacts = artefacts_of(message, collector)
    return message.format, ((artefact.urn, message_of(message, artefact)) for artefact in artefacts)
