"""The encoder of structures, which converts recorded structures of any format to the published format."""

from __future__ import annotations

import logging

from kafka_replica.errors import ConfigurationError
from kafka_replica.producer.changes.encoding import EncodedValue, Encoder, as_recorded
from kafka_replica.records import key_text
from kafka_replica.sdmx import media_types, read_message, write_message
from kafka_replica.sdmx.errors import MessageError, UnwritableError
from kafka_replica.sdmx.messages.format import Format, of_content_type
from kafka_replica.sdmx.messages.message import Message
from kafka_replica.sdmx.model import Artefact

_log = logging.getLogger("kafka_replica.producer")


def encoder_of(media_type: str) -> Encoder:
    """Return the encoder for a configured format; without a format, recorded content is sent unchanged.

    Raises:
        ConfigurationError: structures cannot be written in this format.
    """
    if not media_type:
        return as_recorded
    _format_of(media_type)
    return as_structures


def as_structures(key: bytes, value: bytes, content_type: str | None, media_type: str) -> EncodedValue | None:
    """Return a structure message of the artefact that the key names, in ``media_type``.

    None is returned if the format cannot represent the artefact. Content that was recorded in this format is
    returned unchanged. All other content is read, written, and read again to check that nothing is lost. The same
    content always results in the same bytes.

    Raises:
        ConfigurationError: structures cannot be written in this format.
        MessageError: the content is not a structure message, or does not contain the artefact.
    """
    format_ = _format_of(media_type)
    if content_type is not None and of_content_type(content_type) is format_ and _is_certain(content_type):
        return EncodedValue(value, media_type)
    artefact = _artefact_of(key, read_message(value, content_type, on_error="collect"))
    try:
        return EncodedValue(write_message(artefact, format_), media_type)
    except UnwritableError as error:
        _log.warning("left out: %s", error)
        return None


def _is_certain(content_type: str) -> bool:
    """Return whether a content type names its edition; ``application/vnd.sdmx.json`` is used for every edition."""
    name = content_type.lower()
    return "version" in name or "json" not in name or "fusion" in name


def _format_of(media_type: str) -> Format:
    format_ = of_content_type(media_type)
    if format_ is None or format_ not in media_types():
        raise ConfigurationError(f"media_type={media_type!r}: this format cannot be written; {_choice()}")
    return format_


def _choice() -> str:
    return f"choose one of {', '.join(media_types())}"


def _artefact_of(key: bytes, message: Message) -> Artefact:
    """Return the artefact that the key names; other artefacts in the message may be unreadable."""
    name = key_text(key)
    artefact = next((each for each in message if str(each.urn) == name), None)
    if artefact is not None:
        return artefact
    bad = next((error for error in message.errors if str(error.urn) == name), None)
    if bad is not None:
        raise MessageError(bad.reason)
    names = ", ".join([*map(str, list(message.artefacts)[:3]), *map(str, message.errors[:3])]) or "nothing"
    raise MessageError(f"its message contains {names} instead of the artefact of its key; record it under its own URN")
