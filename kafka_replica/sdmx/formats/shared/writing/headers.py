"""The header of a message in the form of its format: a header from another format may not fit.

Source: SDMXMessage.xsd of all editions; ``meta`` in the schemas of SDMX-JSON; UNB in SDMX-EDI.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec.structs import replace

from kafka_replica.sdmx.formats.shared.writing.times import as_instant_with_zone
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.messages.message import Header

_NEEDED_BY_NONE: Final = frozenset({Format.FUSION_JSON, Format.EDI, Format.XLSX})
_of_edi = re.compile(r"([0-9]{2})([0-9]{2})([0-9]{2}):([0-9]{2})([0-9]{2})", re.ASCII).fullmatch
_is_time = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9]{2}:[0-9]{2})?", re.ASCII
).fullmatch
_not_in_ids = re.compile(r"[^A-Za-z0-9_@$\-]", re.ASCII)
_TURN_OF_CENTURY: Final = 70


def header_for(header: Header, format_: Format, default: Header) -> Header:
    """Return the header in the form of the format, with missing parts taken from ``default``."""
    if format_ in _NEEDED_BY_NONE:
        return header
    prepared = _time(header.prepared) or default.prepared
    id_ = _not_in_ids.sub("_", header.id or default.id or "")
    sender = _not_in_ids.sub("_", header.sender or default.sender or "")
    if "JSON" in format_.name:
        return replace(header, id=id_, sender=sender, prepared=as_instant_with_zone(prepared))
    if format_ is Format.SDMX_ML_1_0:
        id_, sender = _as_name(id_), _as_name(sender)
    return replace(header, id=id_, sender=sender, prepared=prepared)


def _time(text: str | None) -> str | None:
    """Return a date or an instant; EDI has two digits each for year, month and day, then the time."""
    edi = _of_edi(text or "")
    if edi:
        year, month, day, hour, minute = edi.groups()
        century = "19" if int(year) >= _TURN_OF_CENTURY else "20"
        return f"{century}{year}-{month}-{day}T{hour}:{minute}:00"
    return text if text and _is_time(text) else None


def _as_name(text: str) -> str:
    """Return an id as a name of XML, which begins with a letter."""
    text = text.replace("@", "_").replace("$", "_")
    return text if text[:1].isalpha() or text[:1] == "_" else f"M{text}"
