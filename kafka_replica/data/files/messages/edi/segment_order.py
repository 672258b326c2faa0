"""Check the order of segments: a segment where the standard does not allow it may contain data, and is an error.

Source: SDMX 2.1 Section 4, "SDMX-EDI: Syntax and Documentation", message of data (BGM+74).
"""

from __future__ import annotations

from typing import Final

from kafka_replica.common.wording import did_you_mean
from kafka_replica.sdmx.formats.edi.reading.messages import part
from kafka_replica.sdmx.formats.edi.reading.syntax import Segment, fail

_CONTACT: Final = frozenset({"CTA", "COM"})
_BEFORE: Final = _CONTACT | {"DSI", "DTM", "IDE"}
_DATA: Final = _CONTACT | {"ARR", "DTM", "FNS", "GIS", "IDE", "REL", "STS"}
_ATTRIBUTES: Final = frozenset({"ARR", "CDV", "FNS", "FTX", "IDE", "REL"})
_OF_DATA_MESSAGES: Final = frozenset({"ARR", "DSI"})


def check_before(segment: Segment) -> None:
    """Check a segment between the beginning of a message and its first data set. Raises MessageError."""
    _check(segment, _BEFORE, "before DSI, which begins a data set")


def check_within(segment: Segment, *, in_attributes: bool) -> None:
    """Check a segment of a data set. Raises MessageError.

    Args:
        segment: the segment.
        in_attributes: whether the attributes of the data set have begun (FNS or REL).
    """
    if in_attributes:
        _check(segment, _ATTRIBUTES, "among the attributes of a data set")
    else:
        _check(segment, _DATA, "in a data set")
        if segment.tag == "IDE" and (qualifier := part(segment.elements(), 0)) != "5":
            fail(segment.number, f"IDE+{qualifier[:9]} in a data set before its attributes; only IDE+5 may be there")


def check_in_other_message(segment: Segment, function: str | None) -> None:
    """Check a segment of a message whose function is not data. Raises MessageError."""
    if function is None:
        fail(segment.number, f"{segment.tag} before BGM, which states whether the message has data")
    if segment.tag in _OF_DATA_MESSAGES:
        fail(segment.number, f"{segment.tag} in a message with BGM+{function}; data must be in a message with BGM+74")


def _check(segment: Segment, allowed: frozenset[str], where: str) -> None:
    if segment.tag not in allowed:
        fail(
            segment.number,
            f"GESMES/TS has no segment {segment.tag!r} {where}, and data in it would be lost; correct or remove it"
            f"{did_you_mean(segment.tag, sorted(allowed))}",
        )
