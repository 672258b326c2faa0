"""A naive reading of SDMX-EDI data messages with regular expressions, to compare the real one with.

It holds all segments in a list, checks nothing, and names dimensions by their positions (``D1``, ``D2`` ...).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Final

Row = dict[str, Any]
_DIGITS: Final = {"602": 4, "702": 4, "604": 5, "704": 5, "608": 5, "708": 5, "610": 6, "710": 6, "102": 8, "711": 8}
_PARTS: Final = {"02": 1, "04": 2, "08": 4, "10": 12}


@dataclass
class NaiveSet:
    """A data set: its structure, the size of its keys, its observations, and its attributes by key."""

    structure: str = ""
    size: int = 0
    rows: list[Row] = field(default_factory=list)
    attributes: list[tuple[tuple[str, ...], Row]] = field(default_factory=list)


def naive_interchange(data: bytes) -> list[NaiveSet]:
    """Return the data sets of an interchange."""
    text = re.sub(r"[ ]*\r?\n", "", data.decode("latin-1"))
    found: list[NaiveSet] = []
    target: Row | None = None
    name = ""
    for segment in re.split(r"(?<!\?)'", text.removeprefix("UNA:+.? '")):
        tag, _, rest = segment.strip().partition("+")
        elements = [[_plain(each) for each in re.split(r"(?<!\?):", part)] for part in re.split(r"(?<!\?)\+", rest)]
        if tag == "DSI":
            found.append(NaiveSet())
        elif tag == "IDE" and rest.startswith("5+"):
            found[-1].structure = elements[1][0]
        elif tag == "ARR" and rest.startswith("+"):
            _observations(found[-1], elements)
        elif tag == "ARR":
            target = {}
            found[-1].attributes.append((tuple(elements[1]) if len(elements) > 1 else (), target))
        elif tag == "IDE" and rest.startswith(("Z10", "Z11")):
            name = elements[1][0]
        elif tag in {"CDV", "FTX"} and target is not None:
            target[name] = "".join(elements[-1])
    for one in found:
        for key, values in one.attributes:
            _apply(one, key, values)
    return found


def _plain(text: str) -> str:
    return re.sub(r"\?(.)", r"\1", text)


def _observations(found: NaiveSet, elements: list[list[str]]) -> None:
    first = elements[1]
    place = max(at for at, one in enumerate(first) if one in _DIGITS)
    found.size = place - 1
    key = {f"D{at}": value for at, value in enumerate(first[: place - 1], 1)}
    values = [first[place + 1 :], *elements[2:]]
    for period, (value, *more) in zip(_periods(first[place - 1], first[place], len(values)), values, strict=True):
        row = {**key, "TIME_PERIOD": period, "OBS_VALUE": "NaN" if value == "-" else value}
        row |= zip(("OBS_STATUS", "OBS_CONF", "OBS_PRE_BREAK"), more, strict=False)
        found.rows.append({name: text for name, text in row.items() if text})


def _periods(text: str, code: str, count: int) -> list[str]:
    if code in {"102", "711"}:
        begin = date(int(text[:4]), int(text[4:6]), int(text[6:8]))
        return [(begin + timedelta(days=number)).isoformat() for number in range(count)]
    parts = _PARTS[code[1:]]
    begin_at = int(text[:4]) * parts + (int(text[4 : _DIGITS[code]] or 1) - 1)
    mark = {1: "{0}", 2: "{0}-S{1}", 4: "{0}-Q{1}", 12: "{0}-{1:02}"}[parts]
    return [mark.format(number // parts, number % parts + 1) for number in range(begin_at, begin_at + count)]


def _apply(found: NaiveSet, key: tuple[str, ...], values: Row) -> None:
    """Set attributes on the rows of a key, in which an empty text means every value; a period may follow."""
    periods = set(_periods(key[-2], key[-1], 1)) if len(key) == found.size + 2 else None
    for row in found.rows:
        fits = all(part in {"", row[f"D{at}"]} for at, part in enumerate(key[: found.size], 1))
        if fits and (periods is None or row["TIME_PERIOD"] in periods):
            row.update(values)
