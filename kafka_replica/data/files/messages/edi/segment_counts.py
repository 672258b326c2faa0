"""The numbers of segments and messages that an interchange states in its trailers.

Real messages state wrong numbers, so a difference is a remark: it may be the only sign that a part is missing.

Source: ISO 9735, segments UNT and UNZ.
"""

from __future__ import annotations

from typing import Final

from kafka_replica.sdmx.formats.edi.reading.messages import part
from kafka_replica.sdmx.formats.edi.reading.syntax import Segment

_MOST_NOTES: Final = 20


class SegmentCounts:
    """The comparison of stated numbers with those of the segments and messages that were read.

    Attributes:
        notes: a remark for each number that differs.
    """

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._first = 0
        self._messages = 0
        self._has_groups = False

    def take(self, segment: Segment) -> None:
        """Process a segment of the envelope of messages."""
        if segment.tag == "UNH":
            self._first = segment.number
            self._messages += 1
        elif segment.tag == "UNT":
            self._compare(segment, segment.number - self._first + 1, "segments of its message, from UNH to UNT")
        elif segment.tag == "UNG":
            self._has_groups = True
        elif segment.tag == "UNZ" and not self._has_groups:  # otherwise UNZ states the number of groups
            self._compare(segment, self._messages, "messages of the interchange")

    def _compare(self, segment: Segment, found: int, of: str) -> None:
        stated = part(segment.elements(), 0)
        if stated.lstrip("0") != str(found) and len(self.notes) < _MOST_NOTES:
            self.notes.append(
                f"segment {segment.number}: {segment.tag} states {stated[:20]!r} as the number of {of}, but {found:,} "
                "were read; check that nothing is missing"
            )
