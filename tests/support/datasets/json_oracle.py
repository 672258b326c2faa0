"""Random SDMX-JSON data messages, and a reader of them that follows the field guide row by row, without any speed.

Source: SDMX-JSON data message, field guide 2.1: values by index, defaults, and values of higher levels.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

Component: TypeAlias = dict[str, Any]
Row: TypeAlias = dict[str, Any]

_DSD: Final = "urn:sdmx:org.sdmx.infomodel.datastructure.DataStructure=B:E(1.0)"
_ATTRIBUTES: Final = ("X", "Y", "Z")
_OMITTED: Final = object()
_PERIODS: Final = 5


class MessageMaker:
    """A maker of random messages, whose attributes occur at several levels, with several values and defaults."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)

    def message(self) -> dict[str, Any]:
        """Return a message with one data set."""
        dice = self._dice
        levels = {
            level: [self._attribute(id_) | self._relationship(level) for id_ in _ATTRIBUTES if dice.random() < share]
            for level, share in (("dataSet", 0.3), ("series", 0.5), ("observation", 0.5))
        }
        dimensions = {
            "dataSet": [_coded("D", 1)] if dice.random() < 0.3 else [],
            "series": [_coded("A", 3), _coded("B", 2)],
            "observation": [_coded("T", _PERIODS)],
        }
        series = {
            f"{a}:{b}": self._series(levels) for a in ("0", "1", "2") for b in ("0", "1", "~") if dice.random() < 0.5
        }
        data_set = {"structure": 0, "series": series, "action": dice.choice(["Information", "Append", "Delete"])}
        if dice.random() < 0.5:
            data_set["attributes"] = self._values(levels["dataSet"])
        structure = {
            "dataSets": [0],
            "links": [{"rel": "datastructure", "urn": _DSD}],
            "dimensions": dimensions,
            "measures": {"observation": [{"id": "V"}]},
            "attributes": levels,
        }
        return {"data": {"structures": [structure], "dataSets": [data_set]}}

    def _attribute(self, id_: str) -> Component:
        dice = self._dice
        if dice.random() < 0.3:
            return {"id": id_}
        found = _coded(id_, dice.randrange(1, 4))
        if dice.random() < 0.2:
            found["default"] = dice.choice([f"{id_}0", ["p", "q"]])
        if dice.random() < 0.2:
            found["values"][0] = dice.choice([{"values": ["v", "w"]}, {"names": {"en": "e", "fr": "f"}}])
        return found

    def _relationship(self, level: str) -> Component:
        """Return the level to which an attribute is attached: the given one, that of observations, or unknown."""
        attached = {"dataSet": {"dataflow": {}}, "series": {"dimensions": ["A", "B"]}}.get(level)
        found = self._dice.choice([attached, attached, {"observation": {}}, None])
        return {} if found is None else {"relationship": found}

    def _series(self, levels: dict[str, list[Component]]) -> dict[str, Any]:
        dice = self._dice
        found: dict[str, Any] = {}
        if dice.random() < 0.8:
            found["attributes"] = self._values(levels["series"])
        if dice.random() < 0.9:
            periods = dice.sample(range(_PERIODS), dice.randrange(_PERIODS))
            found["observations"] = {str(period): self._observation(levels["observation"]) for period in periods}
        return found

    def _observation(self, attributes: Sequence[Component]) -> list[Any] | None:
        dice = self._dice
        return None if dice.random() < 0.03 else [dice.choice([1.5, "2", None, 3]), *self._values(attributes)]

    def _values(self, components: Sequence[Component]) -> list[Any]:
        found = [self._value(component) for component in components]
        while found and self._dice.random() < 0.2:
            found.pop()  # an array may be too short
        return found

    def _value(self, component: Component) -> Any:
        dice, count = self._dice, len(component.get("values", ()))
        if not count:
            return dice.choice([None, "t", "", {"en": "hello"}, ["m", "n"], 5, 1.5, True])
        several = [dice.randrange(count) for _ in range(2)]
        return dice.choice([None, several, "free", *[dice.randrange(count)] * 5])


def expected_rows(message: dict[str, Any]) -> Iterator[Row]:
    """Yield the rows of a message: its components and ``ACTION``, without the reference to the structure."""
    structure, data_set = message["data"]["structures"][0], message["data"]["dataSets"][0]
    dimensions, attributes = structure["dimensions"], structure["attributes"]
    deletes = data_set["action"] == "Delete"
    action = {"Information": "I", "Append": "A", "Delete": "D"}[data_set["action"]]
    top = _level(attributes["dataSet"], data_set.get("attributes"), deletes)
    apart = _attached(attributes["dataSet"]) if deletes else set()
    has_rows = False
    fixed = {one["id"]: one["values"][0]["id"] for one in dimensions["dataSet"]}
    for key, series in data_set["series"].items():
        own = {one["id"]: _by_key(one, part) for one, part in zip(dimensions["series"], key.split(":"), strict=True)}
        row = {"ACTION": action, **fixed, **own, **_without(top, apart)}
        (period,) = dimensions["observation"]
        of_series = _level(attributes["series"], series.get("attributes"), deletes)
        if deletes and not series.get("observations") and series.get("attributes") and not _has_value(of_series):
            continue
        has_rows = True
        if deletes and series.get("observations"):
            attached = _attached(attributes["series"])
            alone = {name: value for name, value in of_series.items() if name in attached}
            if _has_value(alone):
                yield {"ACTION": action, **fixed, **own, **alone}
            of_series = _without(of_series, attached)
        _overlay(row, of_series)
        for part, values in (series.get("observations") or {}).items():
            one = {**row, period["id"]: _by_key(period, part)}
            components = structure["measures"]["observation"] + attributes["observation"]
            _overlay(one, _level(components, values, deletes))
            yield one
        if not series.get("observations"):
            yield row if deletes else row | {period["id"]: "~"}
    if not has_rows:
        apart |= {one["id"] for one in attributes["dataSet"] if "relationship" not in one}
    alone = {name: value for name, value in top.items() if name in apart}
    if deletes and _has_value(alone):
        yield {"ACTION": action, **fixed, **alone}


def _attached(components: Sequence[Component]) -> set[str]:
    """Return the attributes that are attached to the level at which they are."""
    return {one["id"] for one in components if "observation" not in one.get("relationship", {"observation": {}})}


def _without(row: Row, names: set[str]) -> Row:
    return {name: value for name, value in row.items() if name not in names}


def _has_value(row: Row) -> bool:
    return any(value is not None for value in row.values())


def _coded(id_: str, count: int) -> Component:
    return {"id": id_, "values": [{"id": f"{id_}{number}"} for number in range(count)]}


def _by_key(dimension: Component, part: str) -> str:
    found: str = "~" if part == "~" else dimension["values"][int(part)]["id"]
    return found


def _overlay(row: Row, lower: Row) -> None:
    for name, value in lower.items():
        if value is not None or name not in row:
            row[name] = value


def _level(components: Sequence[Component], values: Sequence[Any] | None, deletes: bool) -> Row:
    given = [*(values or ()), *[_OMITTED] * len(components)]
    return {
        component["id"]: _meaning(component, value, deletes)
        for component, value in zip(components, given, strict=False)
    }


def _meaning(component: Component, given: Any, deletes: bool) -> Any:
    if given is _OMITTED:
        return None if deletes else _listed(component.get("default"))
    values = [_listed(one) for one in component.get("values", ())]
    if not values:
        return _plain(given)
    found = [
        values[one] if type(one) is int else _plain(one) for one in (given if isinstance(given, list) else [given])
    ]
    if not isinstance(given, list):
        return found[0]
    return [one for each in found for one in (each if isinstance(each, list) else [each])]


def _listed(value: Any) -> Any:
    if not isinstance(value, dict):
        return _plain(value)
    return next((_plain(value[name]) for name in ("id", "values", "names") if name in value), None)


def _plain(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value if value is None or isinstance(value, dict) else str(value) or None
