"""Parts that both kinds of JSON read and write in the same way: references, the facets of a text, occurrences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, NoReturn, TypeAlias, TypeVar

import msgspec

from kafka_replica.sdmx.errors import MessageError, UrnError
from kafka_replica.sdmx.formats.shared.reading.lenient_urns import parse_lenient
from kafka_replica.sdmx.model.representation import Occurs, Representation, TextFormat
from kafka_replica.sdmx.urns.urn import Urn


class WireFacets(msgspec.Struct, rename="camel", gc=False, omit_defaults=True):
    """The facets of a text except for flags, which have several spellings."""

    text_type: str | None = None
    min_length: int | None = None
    max_length: int | None = None
    min_value: Decimal | None = None
    max_value: Decimal | None = None
    start_value: Decimal | None = None
    end_value: Decimal | None = None
    interval: Decimal | None = None
    start_time: str | None = None
    end_time: str | None = None
    time_interval: str | None = None
    decimals: int | None = None
    pattern: str | None = None


F = TypeVar("F", bound=WireFacets)

_known_formats: Final[dict[tuple[Any, ...], TextFormat]] = {}

_MANY_FORMATS: Final = 1024


def cached_text_format(wire: F, where: Urn, make: Callable[[F, Urn], TextFormat], *, is_whole: bool) -> TextFormat:
    """Return the format of a text. Equal formats are built once, because there are few. Raises MessageError.

    ``make`` builds the format; ``is_whole`` is True if its fields are plain values that describe it completely.
    """
    # Equal decimals may be written in several ways, and patterns may be as long as a message.
    has_numbers = not (wire.min_value is wire.max_value is wire.start_value is wire.end_value is wire.interval is None)
    if not is_whole or has_numbers or wire.pattern is not None:
        return make(wire, where)
    fields = (type(wire), msgspec.structs.astuple(wire))
    found = _known_formats.get(fields)
    if found is None:
        found = make(wire, where)
        if len(_known_formats) < _MANY_FORMATS:
            _known_formats[fields] = found
    return found


_MAX_EXPONENT: Final = 1000
"""The largest exponent of a number: writers of other formats write the number without one, with all its zeros."""
_FACETS: Final = tuple(name for name in WireFacets.__struct_fields__ if name != "text_type")


def read_facets(wire: WireFacets, where: Urn) -> dict[str, Any]:
    """Return the facets as arguments of a ``TextFormat``, except for its type. Raises MessageError."""
    found = {name: getattr(wire, name) for name in _FACETS}
    for name, value in found.items():
        if isinstance(value, Decimal) and not value.is_finite():
            raise MessageError(f"reading {where}: {name} {value} is not a number")
        if isinstance(value, Decimal) and abs(value.adjusted()) > _MAX_EXPONENT:
            raise MessageError(f"reading {where}: {name} has an exponent over {_MAX_EXPONENT}")
    return found


@lru_cache(maxsize=4096)
def referred(text: str) -> Urn:
    """Return the URN that a text refers to; the last few thousand are cached. Raises UrnError."""
    return parse_lenient(text)


def read_reference(text: str | None, where: Urn | str) -> Urn | None:
    """Return the URN that a text refers to, or None if there is no text. Raises MessageError."""
    if text is None:
        return None
    try:
        return referred(text)
    except UrnError as error:
        raise MessageError(f"reading {where}, a reference in it: {error}") from None


@lru_cache(maxsize=1024)
def enumerated(text: str) -> Representation:
    """Return a representation that is a list of values and nothing more. Raises UrnError."""
    return Representation(enumeration=parse_lenient(text))


def read_references(texts: list[str] | None, where: Urn | str) -> tuple[Urn, ...]:
    """Return the URNs that these texts refer to. Raises MessageError."""
    if not texts:
        return ()
    return tuple(found for text in texts if (found := read_reference(text, where)) is not None)


def fail(where: Urn | str, reason: str) -> NoReturn:
    """Raise the error for an artefact that cannot be understood."""
    raise MessageError(f"reading {where}: {reason}") from None


def occurs(written: int | str | None, where: Urn) -> Occurs | None:
    """Return the maximum number of occurrences. Raises MessageError."""
    if not isinstance(written, str):
        return written
    if written == "unbounded":
        return "unbounded"
    if not written.isdecimal() or len(written) > 9:
        fail(where, f"maxOccurs {written[:80]!r} is neither a number nor 'unbounded'")
    return int(written)


Json: TypeAlias = dict[str, Any]


def obj(*parts: Mapping[str, Any], **members: Any) -> Json:
    """Write an object of these members, without empty ones: None, and empty lists."""
    found: Json = {}
    for part in (*parts, members):
        for name, value in part.items():
            if value is not None and not (isinstance(value, list) and not value):
                found[name] = value
    return found


def write_urn(urn: Urn | None) -> str | None:
    """Write a reference."""
    return None if urn is None else str(urn)


def write_urns(found: Iterable[Urn]) -> list[str]:
    """Write references."""
    return [str(one) for one in found]


def true(value: bool) -> bool | None:
    """Write a flag that is left out if it is false."""
    return True if value else None


def write_facets(text_format: TextFormat) -> Json:
    """Return the facets of a text, except for its type and sentinel values, whose spelling varies."""
    return obj(
        isSequence=text_format.is_sequence,
        isMultiLingual=text_format.is_multi_lingual,
        minLength=text_format.min_length,
        maxLength=text_format.max_length,
        minValue=text_format.min_value,
        maxValue=text_format.max_value,
        startValue=text_format.start_value,
        endValue=text_format.end_value,
        interval=text_format.interval,
        startTime=text_format.start_time,
        endTime=text_format.end_time,
        timeInterval=text_format.time_interval,
        decimals=text_format.decimals,
        pattern=text_format.pattern,
    )
