"""SDMX-JSON data messages as rows.

Source: SDMX-JSON data message, field guides 1.0 and 2.0 of the SDMX Technical Working Group, and their schemas.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.validation.actions import SWITCHED_OFF

Object: TypeAlias = Mapping[str, Any]
Row: TypeAlias = dict[str, Any]

_LETTERS: Final = {"information": "I", "append": "A", "replace": "R", "delete": "D", "merge": "M"}
_KINDS: Final = (
    ("ProvisionAgreement=", "dataprovision"), ("Dataflow=", "dataflow"), ("DataStructure=", "datastructure"),
)  # fmt: skip
_LEVELS: Final = ("dataSet", "series", "observation")


def json_rows(data: bytes, where: str) -> list[Row]:
    """Return the rows of an SDMX-JSON message, 1.0, 2.0 or 2.1.

    Raises:
        DatasetError: the data is not such a message, or violates the standard.
    """
    try:
        # Numbers keep their written form.
        message = json.loads(data, parse_float=str)
        body = message.get("data", message)
        structures = body.get("structures") or ([body["structure"]] if "structure" in body else [])
        if not structures:
            raise DatasetError(
                f"reading {where}: it is JSON, but no SDMX-JSON data message, for it has no 'structure' and no "
                "'structures'; name data messages only"
            )
        return [row for dataset in body.get("dataSets", ()) for row in _DataSet(dataset, structures).rows()]
    except KeyError as error:
        raise DatasetError(f"reading {where} as an SDMX-JSON data message: it lacks {error}") from error
    except (ValueError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise DatasetError(f"reading {where} as an SDMX-JSON data message: {type(error).__name__}: {error}") from error


class _DataSet:
    """A data set, and the structure that defines the meaning of its indexes."""

    def __init__(self, dataset: Object, structures: Sequence[Object]) -> None:
        self._dataset = dataset
        structure = structures[dataset.get("structure", 0)]
        self._dimensions = {level: list(structure["dimensions"].get(level) or ()) for level in _LEVELS}
        self._attributes = structure.get("attributes") or {}
        self._measures: Sequence[Object] = (structure.get("measures") or {}).get("observation") or [{"id": "OBS_VALUE"}]
        self._standing = _standing(structure, str(dataset.get("action") or "information"))

    def rows(self) -> Iterator[Row]:
        fixed: Row = {one["id"]: _value(one["values"][0]) for one in self._dimensions["dataSet"]}
        above = self._named("dataSet", self._dataset.get("attributes"))
        groups = self._groups()
        for key, series in (self._dataset.get("series") or {}).items():
            own = self._key("series", key) | self._named("series", series.get("attributes"))
            observations = series.get("observations") or {}
            if not observations:
                yield from self._without_observations({**fixed, **own}, above, groups)
            for place, values in observations.items():
                yield self._row({**fixed, **own}, place, values, above, groups)
        for place, values in (self._dataset.get("observations") or {}).items():
            yield self._row(fixed, place, values, above, groups)

    def _row(self, own: Row, place: str, values: Sequence[Any], above: Row, groups: Sequence[tuple[Row, Row]]) -> Row:
        row = self._standing | own | self._key("observation", place)
        row |= self._of_groups(row, groups)
        components = [*self._measures, *(self._attributes.get("observation") or ())]
        given = zip(components, values, strict=False)
        return row | {one["id"]: _component(one, value) for one, value in given} | above

    def _without_observations(self, own: Row, above: Row, groups: Sequence[tuple[Row, Row]]) -> Iterator[Row]:
        """Yield the row of a series without observations: its attributes, dimensions switched off; or a deletion."""
        deletes = self._standing["ACTION"] == "D"
        off = {} if deletes else {one["id"]: SWITCHED_OFF for one in self._dimensions["observation"]}
        yield self._standing | own | off | self._of_groups(own, groups) | above

    @staticmethod
    def _of_groups(row: Row, groups: Sequence[tuple[Row, Row]]) -> Row:
        found: Row = {}
        for part, attributes in groups:
            if all(row.get(name) == value for name, value in part.items()):
                found |= attributes
        return found

    def _key(self, level: str, key: str) -> Row:
        dimensions = self._dimensions[level]
        places = key.split(":") if dimensions else []
        return {one["id"]: _value(one["values"][int(place)]) for one, place in zip(dimensions, places, strict=True)}

    def _named(self, level: str, values: Sequence[Any] | None) -> Row:
        components = self._attributes.get(level) or ()
        return {one["id"]: _component(one, value) for one, value in zip(components, values or (), strict=False)}

    def _groups(self) -> list[tuple[Row, Row]]:
        """Return the attributes of dimension groups (2.0), each with the partial key that it belongs to."""
        found = self._dataset.get("dimensionGroupAttributes") or {}
        dimensions = [one for level in _LEVELS for one in self._dimensions[level]]
        if all("keyPosition" in one for one in dimensions):
            dimensions.sort(key=lambda one: int(one["keyPosition"]))
        groups: list[tuple[Row, Row]] = []
        for key, values in found.items():
            places = zip(dimensions, key.split(":"), strict=False)
            part = {one["id"]: _value(one["values"][int(place)]) for one, place in places if place}
            groups.append((part, self._named("dimensionGroup", values)))
        return groups


def _standing(structure: Object, action: str) -> Row:
    urns = [str(link.get("urn") or link.get("href") or "") for link in structure.get("links") or ()]
    letter = _LETTERS.get(action.lower(), action)
    for mark, kind in _KINDS:
        for urn in urns:
            if mark in urn:
                return {"STRUCTURE": kind, "STRUCTURE_ID": urn.rpartition("=")[2], "ACTION": letter}
    return {"ACTION": letter}


def _component(component: Object, value: Any) -> Any:
    """Return the value of a measure or attribute, which is given directly, or as an index into the listed values."""
    listed = component.get("values")
    if listed and isinstance(value, int) and not isinstance(value, bool):
        found = listed[value]
        return None if found is None else _value(found)
    return _plain(value)


def _value(value: Object) -> Any:
    """Return a listed value: a code or a text; uncoded attributes in 1.0 have only a name."""
    if "values" in value:
        return _plain(value["values"])
    for name in ("id", "value", "name"):
        if value.get(name) is not None:
            return _plain(value[name])
    return None


def _plain(value: Any) -> Any:
    """Convert values to texts, lists of texts, and texts by language."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {language: str(text) for language, text in value.items()}
    return None if value is None or value == "" else str(value)
