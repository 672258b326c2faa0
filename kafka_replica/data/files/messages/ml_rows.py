"""SDMX-ML data messages as rows; the only module for data that uses pysdmx."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final
from xml.parsers.expat import ExpatError

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.validation.actions import SWITCHED_OFF
from kafka_replica.errors import MissingExtraError

_KINDS: Final = {
    "DataStructure": "datastructure", "Dataflow": "dataflow", "ProvisionAgreement": "dataprovision",
    "ProvisionAgrement": "dataprovision",
}  # fmt: skip
_AT_OBSERVATION: Final = re.compile(rb"""\bdimensionAtObservation\s*=\s*["']([^"']*)["']""")
_OBSERVATION: Final = re.compile(rb"<(?:[\w.-]+:)?Obs\b([^>]*)>")
_NAME: Final = re.compile(rb"([\w.-]+)\s*=")
_LETTERS: Final = {"Information": "I", "Append": "A", "Replace": "R", "Delete": "D", "Merge": "M"}


def ml_rows(data: bytes, where: str) -> list[dict[str, Any]]:
    """Return the rows of an SDMX-ML message.

    Raises:
        DatasetError: pysdmx cannot read the message, or it contains no data.
        MissingExtraError: pysdmx is not installed.
    """
    try:
        from pysdmx.errors import PysdmxError  # noqa: PLC0415 - an extra
        from pysdmx.io import read_sdmx  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("reading SDMX-ML data", "pysdmx") from error
    try:
        # As text, because pysdmx would take bytes for a file name.
        message = read_sdmx(_declared(data.decode("utf-8-sig").lstrip()), validate=False)
    except UnicodeDecodeError as error:
        raise DatasetError(f"reading {where}: only UTF-8 is read as SDMX-ML data: {error}") from error
    except (PysdmxError, ExpatError, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise DatasetError(f"reading {where} with pysdmx: {type(error).__name__}: {error}") from error
    datasets = message.data
    if datasets is None:
        raise DatasetError(f"reading {where}: it is an SDMX-ML message without data")
    rows = [row for dataset in datasets for row in _rows(dataset)]
    at_observation = _dimension_at_observation(data)
    if at_observation is None or all(row.get(at_observation) is not None for row in rows):
        return rows
    of_observations = _of_observations(data)
    return [_switched_off(row, at_observation, of_observations) for row in rows]


def _dimension_at_observation(data: bytes) -> str | None:
    """Return the dimension at the observation; None if there is none, or if it differs between data sets."""
    found = {name.decode() for name in _AT_OBSERVATION.findall(data)}
    return found.pop() if len(found) == 1 and "AllDimensions" not in found else None


def _of_observations(data: bytes) -> frozenset[str]:
    """Return the components that observations have, as far as they are named."""
    said = b" ".join(_OBSERVATION.findall(data))
    return frozenset({"OBS_VALUE", *(name.decode() for name in _NAME.findall(said))})


def _switched_off(row: dict[str, Any], at_observation: str, of_observations: frozenset[str]) -> dict[str, Any]:
    """Return the row of a series without observations with its dimension switched off, unless the row is a deletion.

    An observation that lacks the dimension is left unchanged, because that is an error.
    """
    is_alone = all(row.get(name) is None for name in (at_observation, *of_observations))
    return row | {at_observation: SWITCHED_OFF} if is_alone and row["ACTION"] != "D" else row


def _declared(text: str) -> str:
    """Return a message with an XML declaration, which pysdmx requires."""
    return text if text.startswith("<?xml") else f'<?xml version="1.0" encoding="UTF-8"?>{text}'


def _rows(dataset: Any) -> Iterator[dict[str, Any]]:
    class_, _, reference = str(dataset.short_urn).partition("=")
    action = getattr(dataset.action, "value", dataset.action)
    standing = {"STRUCTURE": _KINDS.get(class_), "STRUCTURE_ID": reference, "ACTION": _LETTERS.get(str(action), "I")}
    above = {name: _text(value) for name, value in dataset.attributes.items()}
    for row in dataset.data.to_dict("records"):
        yield standing | {name: _text(value) for name, value in row.items()} | above


def _text(value: Any) -> str | None:
    # pandas has several values for a missing one, none of them a text
    if not isinstance(value, str):
        return None
    return value or None
