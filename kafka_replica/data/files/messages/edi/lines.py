"""The lines on which the segments of an interchange begin.

Line ends have no meaning in EDIFACT and may be anywhere. They are removed before segments are read, so segments do not
know their lines, which are therefore counted in the original bytes.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence

from kafka_replica.sdmx.formats.edi.reading.syntax import Interchange


def lines_of(data: bytes, interchange: Interchange) -> Sequence[int]:
    """Return the line of each segment from UNB on, from 1."""
    separators = interchange.separators
    end, release = re.escape(separators.terminator.encode()), re.escape(separators.release.encode())
    released = rb"(?:%b[\r\n]*+.)" % release if release else b"(?!)"
    segment = re.compile(rb"\s*+((?:[^%b%b]++|%b)*+)%b" % (end, release, released, end), re.DOTALL)
    position = 0
    if interchange.advice:
        position = data.index(b"UNA") + 9
    lines = array("L")
    line, counted_to = 1, 0
    while found := segment.match(data, position):
        line += data.count(b"\n", counted_to, found.start(1))
        counted_to, position = found.start(1), found.end()
        if found[1].strip():
            lines.append(line)
    return lines
