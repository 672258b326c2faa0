"""A naive reading of SDMX-JSON data messages, written from the field guides, to compare the real one with.

It is slow and does not check anything: each observation is put together from the data set downwards.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

_ACTIONS = {None: "I", "Information": "I", "Append": "A", "Merge": "M", "Replace": "R", "Delete": "D"}


def naive_rows(data: bytes) -> list[dict[str, Any]]:
    """Return the observations of a message, each with the components that have a value, and with ``ACTION``."""
    message = json.loads(data, parse_float=str)
    body = message.get("data", message)
    structures = body.get("structures") or [body["structure"]]
    return [
        row for dataset in body["dataSets"] for row in _observations(dataset, structures[dataset.get("structure", 0)])
    ]


def _observations(dataset: dict[str, Any], structure: dict[str, Any]) -> Iterator[dict[str, Any]]:
    dimensions, attributes = structure["dimensions"], structure.get("attributes", {})
    deletes = dataset.get("action") == "Delete"
    at_series, at_observation = dimensions.get("series") or [], dimensions.get("observation") or []
    if "series" in dataset:
        cells = [
            (f"{key}:{place}", series.get("attributes") or [], values)
            for key, series in dataset["series"].items()
            for place, values in series["observations"].items()
        ]
    else:
        cells = [(key, [], values) for key, values in dataset["observations"].items()]
    for key, of_series, values in cells:
        row = {one["id"]: _listed(one["values"][0]) for one in dimensions.get("dataSet") or []}
        places = [part for part in key.split(":") if part]
        dims = [*at_series, *at_observation][-len(places) :]
        row |= {dim["id"]: _listed(dim["values"][int(part)]) for dim, part in zip(dims, places, strict=True)}
        found: dict[str, Any] = {}
        for level, of_level in (("dataSet", dataset.get("attributes") or []), ("series", of_series)):
            if level == "series" and not deletes:
                found |= _of_groups(dataset, structure, row)
            if level == "dataSet" or "series" in dataset:
                named = _named(attributes.get(level), of_level, deletes)
                # In a deletion, attributes that are attached to a higher level are deleted on their own.
                apart = {one["id"] for one in attributes.get(level) or [] if deletes and _is_attached(one, dimensions)}
                found |= {name: value for name, value in named.items() if name not in apart}
        measures = structure.get("measures", {"observation": [{"id": "OBS_VALUE"}]})["observation"]
        found |= _named([*measures, *(attributes.get("observation") or [])], values, deletes)
        yield {"ACTION": _ACTIONS[dataset.get("action")], **row, **found}


def _is_attached(attribute: dict[str, Any], dimensions: dict[str, Any]) -> bool:
    """Return whether an attribute is not one of observations."""
    relationship = attribute.get("relationship") or {"observation": {}}
    below = {one["id"] for one in dimensions.get("observation") or []}
    return not {"observation", "primaryMeasure"} & relationship.keys() and below.isdisjoint(
        relationship.get("dimensions") or ()
    )


def _of_groups(dataset: dict[str, Any], structure: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    levels = structure["dimensions"]
    ordered = [one for level in ("dataSet", "series", "observation") for one in levels.get(level) or []]
    for key, values in (dataset.get("dimensionGroupAttributes") or {}).items():
        pairs = [(one, part) for one, part in zip(ordered, key.split(":"), strict=True) if part]
        if all(row[one["id"]] == _listed(one["values"][int(part)]) for one, part in pairs):
            found |= _named(structure["attributes"]["dimensionGroup"], values, deletes=True)
    return found


def _named(components: list[Any] | None, values: list[Any], deletes: bool) -> dict[str, Any]:
    found = {}
    for place, component in enumerate(components or []):
        if place >= len(values):
            value = None if deletes else component.get("default")
        elif component.get("values") and isinstance(values[place], int):
            value = _listed(component["values"][values[place]])
        else:
            value = _plain(values[place])
        if value is not None:
            found[component["id"]] = value
    return found


def _listed(value: Any) -> Any:
    if value is None:
        return None
    return value.get("id") or value.get("value") or value.get("values") or value.get("name")


def _plain(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return str(value) if isinstance(value, int) else value
