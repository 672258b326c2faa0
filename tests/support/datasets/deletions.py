"""Messages with the action delete: their rows, and the notes on what they do not delete."""

from __future__ import annotations

from typing import Any, Final

from kafka_replica.data.files.messages import located_blocks
from kafka_replica.data.files.messages.blocks import columns_of, rows_of
from kafka_replica.data.validation.model import Rules
from support.datasets.ml_messages import message
from support.rules.structures_by_hand import (
    attribute,
    coded,
    codelist,
    dimension,
    measure,
    rules_of,
    structure,
    text,
    time,
    version_of,
)

OLD: Final = "http://www.SDMX.org/resources/SDMXML/schemas/v2_0"
RULES: Final = rules_of(version_of(structure(dimension("A", text()), dimension("B", text()), time(), measure())))
"""The dimensions A, B and TIME_PERIOD, and the measure OBS_VALUE."""

NAMED: Final = (
    codelist("CL", ["a", "b"]),
    structure(
        dimension("A", coded("CL")), time(), measure(), attribute("O"),
        attribute("L", occurs='maxOccurs="unbounded"'),
    ),
)  # fmt: skip
"""The coded dimension A, and attributes with one value (O) and several (L)."""

Found = tuple[list[dict[str, Any]], list[str]]
"""Rows without their structure and action, and notes."""


def found_in(text_: str, rules: Rules | None = RULES, *, action: str = "D") -> Found:
    """Return the rows of a message, all of which must have the action, without empty values; and the notes."""
    notes: list[str] = []
    columns = columns_of(block for _, block in located_blocks("m", rules, content=text_.encode(), note=notes.append))
    rows = [{name: value for name, value in row.items() if value is not None} for row in rows_of(columns)]
    assert all(row.pop("ACTION") == action for row in rows)
    standing = {"STRUCTURE", "STRUCTURE_ID"}
    return [{name: value for name, value in row.items() if name not in standing} for row in rows], notes


def named_rows(action: str | None) -> str:
    """Return SDMX-CSV with names, of :data:`NAMED`, in which most rows have a name without its value.

    Args:
        action: the action of the rows; None leaves the column out.
    """
    names = "A;Name of A;TIME_PERIOD;Time;OBS_VALUE;Value;O;Name of O;L[];Name of L"
    cells = (";b;2020;;-;;;;;", "a;;2020;;;;;n;;", "a;;2020;;;;;;;n", ";;2020;;;;;;;", "a;;2020;;-;;;n;;")
    of_action, given = ("", "") if action is None else ("ACTION;", f"{action};")
    rows = [f"datastructure;T:D(1.0);n;{given}{row}" for row in cells]
    return "\n".join([f"STRUCTURE[|];STRUCTURE_ID;STRUCTURE_NAME;{of_action}{names}", *rows, ""])


def specific(body: str, attributes: str = "", action: str = "Delete") -> str:
    """Return a structure-specific message of 2.1 with one data set; ``x`` is the prefix of extensions."""
    named = f'structureRef="S" ss:action="{action}"{attributes}>'
    return message(body).replace('structureRef="S">', named)


def cross_sectional(body: str, attributes: str = "", action: str = "Delete") -> str:
    """Return a cross-sectional message of 2.0 with one data set; ``x`` is the prefix of extensions."""
    return (
        f'<CrossSectionalData xmlns="{OLD}/message" xmlns:x="urn:extension"><Header/>'
        f'<DataSet action="{action}"{attributes}>{body}</DataSet></CrossSectionalData>'
    )


def generic_of_20(series: str) -> str:
    """Return a generic message of 2.0 with the action delete."""
    return f'<GenericData xmlns="{OLD}/message"><Header/><DataSet action="Delete">{series}</DataSet></GenericData>'
