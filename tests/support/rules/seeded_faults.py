"""Valid rows, and faults put into them whose findings are known."""

from __future__ import annotations

import random
from typing import Any

from kafka_replica.data.validation import Rules, generate_rows
from support.rules.structures_by_hand import (
    AGREEMENT,
    FLOWS,
    attribute,
    coded,
    codelist,
    constraint,
    dimension,
    group,
    keys,
    measure,
    region,
    rules_of,
    selected,
    structure,
    text,
    time,
    version_of,
)

_AREAS = [f"R{number:03}" for number in range(400)]


def world() -> Rules:
    """Return a provision agreement with every kind of rule."""
    return rules_of(
        version_of(
            codelist("FREQ", ["A", "Q", "M"]),
            codelist("AREA", _AREAS),
            codelist("SEX", ["F", "M", "T"]),
            codelist("FLAG", ["e", "p", "b"]),
            structure(
                dimension("FREQ", coded("FREQ")),
                dimension("AREA", coded("AREA")),
                dimension("SEX", coded("SEX")),
                dimension("AGE", text("AlphaNumeric", maxLength=5, pattern="Y[0-9]{1,3}")),
                time(),
                group("SIBLING", "AREA", "SEX", "AGE"),
                attribute("UNIT", text("Integer", minValue=1, maxValue=9), "FREQ,AREA,SEX,AGE", "mandatory"),
                attribute("TITLE", text(), "GROUP:SIBLING"),
                attribute("SOURCE", text(), "DATASET"),
                attribute("FLAG", coded("FLAG"), usage="mandatory"),
                attribute("WEIGHT", text("Decimal", decimals=2, minValue=0)),
                attribute("STEP", text("Integer", isSequence="true", interval=5, startValue=10)),
                measure(representation=text("Double"), usage="mandatory"),
            ),
            FLOWS,
            constraint(region(selected("AREA", *_AREAS[:300]), selected("FLAG", "e", "p", kind="Component"))),
            constraint(region(selected("SEX", "T"), selected("FREQ", "M"), include="false"), "Dataflow", "C2"),
            constraint(
                keys({"AREA": _AREAS[0], "SEX": "F"}, {"AREA": _AREAS[1]}, included="false"),
                "ProvisionAgreement",
                "C3",
            ),
        ),
        AGREEMENT,
    )


FAULTS: dict[str, list[tuple[dict[str, Any], list[str]]]] = {
    "codes": [
        ({"AREA": "R999"}, ["code-unknown AREA R999", "value-not-allowed AREA R999"]),
        ({"AREA": "R399"}, ["value-not-allowed AREA R399"]),
        ({"FLAG": "b"}, ["value-not-allowed FLAG b"]),
    ],
    "texts": [
        ({"AGE": "X1"}, ["pattern AGE X1"]),
        ({"AGE": "Y1234567"}, ["length AGE Y1234567", "pattern AGE Y1234567"]),
        ({"WEIGHT": "1.234"}, ["decimals WEIGHT 1.234"]),
        ({"WEIGHT": "-0.5"}, ["range WEIGHT -0.5"]),
        ({"STEP": "12"}, ["sequence STEP 12"]),
        ({"OBS_VALUE": "1d"}, ["text-type OBS_VALUE 1d"]),
    ],
    "absence": [
        ({"FLAG": None}, ["attribute-missing FLAG"]),
        ({"OBS_VALUE": None}, ["measure-missing OBS_VALUE"]),
        ({"SEX": None}, ["dimension-missing SEX"]),
    ],
    "time": [
        ({"TIME_PERIOD": "2020-13"}, ["time-period TIME_PERIOD 2020-13"]),
        ({"TIME_PERIOD": "2020-W40"}, ["frequency TIME_PERIOD 2020-W40"]),
        ({"TIME_PERIOD": "2021-W53"}, ["calendar TIME_PERIOD 2021-W53", "frequency TIME_PERIOD 2021-W53"]),
    ],
}  # fmt: skip
_KEYS = ("FREQ", "AREA", "SEX", "AGE", "TIME_PERIOD")


def seeded(rules: Rules, n: int, seed: int) -> tuple[list[dict[str, Any]], list[list[str]]]:
    """Return rows, and the errors of each. A row gets at most one fault, and so does a series."""
    source = random.Random(seed)
    rows: list[dict[str, Any]] = [dict(row) for row in generate_rows(rules, n, seed)]
    wanted: list[list[str]] = [[] for _ in rows]
    every_fault = [fault for faults in FAULTS.values() for fault in faults]
    touched: set[tuple[Any, ...]] = set()
    for place in source.sample(range(len(rows)), n // 25):
        row = rows[place]
        series = tuple(row[name] for name in _KEYS[1:4])
        if series in touched:
            continue
        touched.add(series)
        changes, found = source.choice(every_fault)
        if changes.keys() & set(_KEYS[:4]):
            # Alone in a new series, it must still have the other attributes.
            row |= {"UNIT": "1", "TITLE": None}
        row |= changes
        wanted[place] = found
    _duplicate(rows, wanted, source, touched)
    _differ(rows, wanted, touched)
    return rows, wanted


def _duplicate(rows: list[dict[str, Any]], wanted: list[list[str]], source: random.Random, touched: set[Any]) -> None:
    free = [
        place
        for place, row in enumerate(rows)
        if tuple(row[name] for name in _KEYS[1:4]) not in touched and not wanted[place]
    ]
    for place in source.sample(free, 3):
        rows.append({**rows[place], "OBS_VALUE": "0"})
        finding = [f"duplicate-key {'.'.join(rows[place][name] for name in _KEYS)}"]
        wanted[place] = finding
        wanted.append(finding)
        touched.add(tuple(rows[place][name] for name in _KEYS[1:4]))


def _differ(rows: list[dict[str, Any]], wanted: list[list[str]], touched: set[Any]) -> None:
    """Return a series whose unit changes, and a series without a unit."""
    by_series: dict[tuple[Any, ...], list[int]] = {}
    for place, row in enumerate(rows):
        if tuple(row[name] for name in _KEYS[1:4]) not in touched and not wanted[place]:
            by_series.setdefault(tuple(row[name] for name in _KEYS[:4]), []).append(place)
    long = [places for places in by_series.values() if len(places) > 2]
    rows[long[0][0]]["UNIT"] = "1" if rows[long[0][1]]["UNIT"] != "1" else "2"
    for place in long[0]:
        wanted[place] = [f"attribute-differs UNIT {rows[place]['UNIT']}"]
    for place in long[1]:
        rows[place]["UNIT"] = None
        wanted[place] = ["attribute-missing UNIT"]
