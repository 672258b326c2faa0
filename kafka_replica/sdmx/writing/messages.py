"""The entry point for writing: artefacts in, a structure message out, and never a silent loss.

The result is read again before it is returned, and compared with the input. So any content that a format cannot
represent is detected, and raises UnwritableError.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from kafka_replica.common.wording import counted
from kafka_replica.sdmx.errors import SdmxError, UnwritableError
from kafka_replica.sdmx.formats.registry import WRITTEN, keeping_writer, writer
from kafka_replica.sdmx.formats.shared.writing.conversion import as_representable_in
from kafka_replica.sdmx.formats.shared.writing.difference import difference
from kafka_replica.sdmx.formats.shared.writing.headers import header_for
from kafka_replica.sdmx.messages.format import Format, of_content_type
from kafka_replica.sdmx.messages.message import Header
from kafka_replica.sdmx.model import Artefact, OpaqueArtefact
from kafka_replica.sdmx.reading.messages import read_message

DEFAULT_HEADER: Final = Header(id="STRUCTURES", sender="KAFKA_REPLICA", prepared="1970-01-01T00:00:00Z")
"""The default header; its time is fixed, so the same artefacts give the same bytes."""


_PREFERRED: Final = (
    Format.SDMX_ML_3_1,
    Format.SDMX_ML_3_0,
    Format.SDMX_ML_2_1,
    Format.SDMX_JSON_2_1,
    Format.SDMX_JSON_2_0,
    Format.FUSION_JSON,
    Format.SDMX_ML_2_0,
    Format.SDMX_JSON_1_0,
    Format.SDMX_ML_1_0,
)
"""The formats to try for advice, in this order."""


def media_types() -> tuple[str, ...]:
    """Return the media types that can be written, as in the header ``content-type``."""
    return WRITTEN


def write_message(
    artefacts: Iterable[Artefact] | Artefact, media_type: str, header: Header = DEFAULT_HEADER, *, verify: bool = True
) -> bytes:
    """Return a structure message of these artefacts; the same input gives the same bytes.

    Args:
        artefacts: one artefact, or several of any classes; their order is kept within a class.
        media_type: see :func:`media_types`; the version may be written shorter (``3.0`` for ``3.0.0``).
        header: id, sender and time of the message.
        verify: read the result and compare it. Otherwise a property that the format cannot represent
            may be left out silently.

    Raises:
        UnwritableError: no such media type; or the format cannot represent an artefact, or some of its content.
            The text names the artefact or content, and a format that can represent it.
    """
    format_ = _format_of(media_type)
    found = [artefacts] if isinstance(artefacts, Artefact) else list(artefacts)
    if len(found) == 1 and isinstance(found[0], OpaqueArtefact):
        return _content_of(found[0], format_)
    try:
        return _written(found, format_, header, verify=verify)
    except _CannotCarryError as error:
        raise UnwritableError(f"{error}; {_advice(error.artefact, format_)}") from None


def explain_unwritable(artefact: Artefact, media_type: str) -> str | None:
    """Return why a format cannot represent an artefact, or None. Raises UnwritableError for an unknown media type."""
    format_ = _format_of(media_type)
    try:
        if isinstance(artefact, OpaqueArtefact):
            _content_of(artefact, format_)
        else:
            _written([artefact], format_, DEFAULT_HEADER, verify=True)
    except UnwritableError as error:
        return str(error)
    return None


class _CannotCarryError(UnwritableError):
    """An artefact that the format cannot represent."""

    def __init__(self, artefact: Artefact, format_: Format, reason: str) -> None:
        super().__init__(f"writing {artefact.urn} as {format_.title}: {reason}")
        self.artefact = artefact


def _format_of(media_type: str) -> Format:
    format_ = of_content_type(media_type)
    if format_ is None or format_ not in WRITTEN:
        raise UnwritableError(
            f"writing a structure message as {media_type[:80]!r}: this format cannot be written; "
            f"choose one of {', '.join(WRITTEN)}"
        )
    return format_


def _content_of(artefact: OpaqueArtefact, format_: Format) -> bytes:
    if of_content_type(artefact.content_type) is not format_:
        raise UnwritableError(
            f"writing {artefact.urn} as {format_.title}: its content is only known as {artefact.content_type}; "
            "publish its .content as that"
        )
    return artefact.content


def _written(artefacts: list[Artefact], format_: Format, header: Header, *, verify: bool) -> bytes:
    expected: list[Artefact] = []
    elements: list[Any] = []
    for artefact in artefacts:
        its, element = _element(artefact, format_)
        expected.append(its)
        elements.append(element)
    data = message_of(elements, header, format_)
    if verify:
        _verify(data, expected, artefacts, format_)
    return data


def verified_element(artefact: Artefact, format_: Format) -> tuple[Any, int]:
    """Return an artefact's part of messages, which was read again and compared, and its size in bytes.

    ``message_of`` takes the part; the format is one of ``KEEPABLE``.

    Raises:
        UnwritableError: the format cannot represent the artefact, or some of its content.
    """
    expected, element = _element(artefact, format_)
    _verify(message_of([element], DEFAULT_HEADER, format_), [expected], [artefact], format_)
    return keeping_writer(format_).encode_element(element)


def message_of(elements: list[Any], header: Header, format_: Format) -> bytes:
    """Return the message of these parts. Raises UnwritableError."""
    data: bytes = writer(format_).message_of(elements, header_for(header, format_, DEFAULT_HEADER), format_)
    return data


def _element(artefact: Artefact, format_: Format) -> tuple[Artefact, Any]:
    """Return the part of an artefact that the format can represent, and its part of the message."""
    if isinstance(artefact, OpaqueArtefact):
        reason = "artefacts of this class are written alone, because only their own bytes are known"
        raise _CannotCarryError(artefact, format_, reason)
    try:
        expected = as_representable_in(artefact, format_)
        return expected, writer(format_).element_of(expected, format_)
    except SdmxError as error:
        # These include ids that are invalid in a URN although a format requires one.
        raise _CannotCarryError(artefact, format_, str(error)) from None
    except RecursionError:
        raise _CannotCarryError(artefact, format_, "its items are nested too deep") from None


def _verify(data: bytes, expected: list[Artefact], artefacts: list[Artefact], format_: Format) -> None:
    try:
        found = read_message(data, format_).artefacts
    except SdmxError as error:
        if len(artefacts) != 1:
            raise UnwritableError(
                f"writing {counted(len(artefacts), 'artefact')} as {format_.title}: {error}"
            ) from None
        raise _CannotCarryError(artefacts[0], format_, f"it cannot be read again ({error})") from None
    for artefact, wanted in zip(artefacts, expected, strict=True):
        got = found.get(wanted.urn)
        if got is None:
            raise _CannotCarryError(artefact, format_, "the format cannot represent its class or version")
        path = difference(wanted, got)
        if path is not None:
            raise _CannotCarryError(artefact, format_, f"the format cannot represent {path}")


def _advice(artefact: Artefact, format_: Format) -> str:
    for other in _PREFERRED:
        if other is not format_ and explain_unwritable(artefact, other) is None:
            return f"choose {other} instead"
    return "no other format can, either"
