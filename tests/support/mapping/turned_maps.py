"""Random invertible maps, with data."""

from __future__ import annotations

import random
from datetime import date, timedelta

from support.mapping.maps_by_hand import (
    component_map,
    date_map,
    epoch_map,
    fixed,
    frequency_format,
    named,
    representation_map,
    structure_map,
)

_DAY = date(1990, 1, 1)


def turned_map(source: random.Random) -> tuple[tuple[str, ...], list[dict[str, str | None]]]:
    """Draw copies, values one to one and n to m, fixed values, and a date; and rows for the map."""
    codes = [f"C{number}" for number in range(30)]
    others = source.sample(range(1000), 30)
    pairs = [(a, b) for a in "XYZ" for b in "123"]
    made = source.sample([(c, d) for c in "pqr" for d in "789"], 9)
    dates, whens, freq = _dates(source)
    contents = (
        named("S", "AREA FREQ A B CURRENCY WHEN", timed=False, attributes="NOTE"),
        named("G", "REF_AREA FREQ C D UNIT", attributes="NOTE"),
        representation_map("R", *(f"{code}>R{other}" for code, other in zip(codes, others, strict=True))),
        representation_map("P", *(f"{a},{b}>{c},{d}" for (a, b), (c, d) in zip(pairs, made, strict=True)),
                           sources=2, targets=2),
        structure_map(component_map("AREA", "REF_AREA", "R"), component_map("B A", "D C", "P"), *dates,
                      fixed("UNIT", "EUR"), fixed("CURRENCY", "EUR", side="Source")),
    )  # fmt: skip
    rows: list[dict[str, str | None]] = []
    for number in range(80):
        b, a = source.choice(pairs)
        rows.append({
            "AREA": source.choice(codes), "FREQ": freq, "A": a, "B": b, "CURRENCY": "EUR", "WHEN": source.choice(whens),
            "NOTE": source.choice([None, "n"]), "OBS_VALUE": str(number),
        })  # fmt: skip
    return contents, rows


def _dates(source: random.Random) -> tuple[list[str], list[str], str]:  # noqa: PLR0911 - one a kind
    """Draw date maps, dates for them, and the frequency."""
    days = [_DAY + timedelta(days=source.randrange(20_000)) for _ in range(60)]
    years = sorted({day.year for day in days})
    seconds = [str(source.randrange(-(10**9), 10**10)) for _ in range(60)]
    pick = source.randrange(8)
    if pick == 0:
        return [date_map("WHEN", "TIME_PERIOD", "dd/MM/yyyy", "D")], [day.strftime("%d/%m/%Y") for day in days], "D"
    if pick == 1:
        return [date_map("WHEN", "TIME_PERIOD", "yyyyMM", "M")], [day.strftime("%Y%m") for day in days], "M"
    if pick == 2:
        return [date_map("WHEN", "TIME_PERIOD", "'y'yyyy", "=FREQ", resolve="midPeriod")], [f"y{y}" for y in years], "M"
    if pick == 3:
        weeks = [f"{day.isocalendar().year}W{day.isocalendar().week:02}" for day in days]
        return [date_map("WHEN", "TIME_PERIOD", "YYYYWnn", "W")], weeks, "W"
    if pick == 4:
        return [epoch_map("WHEN", "TIME_PERIOD", "1970", "second", "I")], seconds, "I"
    if pick == 5:
        return [epoch_map("WHEN", "TIME_PERIOD", "1900-01-01", "day", "D")], [str(day.toordinal()) for day in days], "D"
    if pick == 6:
        return (
            [
                date_map("WHEN", "TIME_PERIOD", "dd MMMM yyyy", "=FREQ", locale="fr-FR"),
                frequency_format("D", "yyyy-Dnnn"),
            ],
            [
                f"{day.day:02} {'janvier' if day.month == 1 else 'août'} {day.year}"
                for day in days
                if day.month in {1, 8}
            ],
            "D",
        )
    quarters = [f"{day.year}Q{(day.month + 2) // 3}" for day in days]
    resolve = source.choice(["startOfPeriod", "endOfPeriod", "midPeriod"])
    return [date_map("WHEN", "TIME_PERIOD", "yyyyQn", "D", resolve=resolve)], quarters, "D"
