"""The definition of a view: its name, the classes of artefacts that it shows, its columns, and its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

import pyarrow as pa

from kafka_replica.sdmx import Structures
from kafka_replica.sdmx.containers import InternationalString
from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.model.base import Annotation

TEXT: Final = pa.string()
FLAG: Final = pa.bool_()
NUMBER: Final = pa.int32()
LONG: Final = pa.int64()
TEXTS: Final = pa.list_(pa.string())
BY_NAME: Final = pa.map_(pa.string(), pa.string())
ANNOTATIONS: Final = pa.list_(
    pa.struct([*((name, TEXT) for name in ("id", "title", "type", "value", "url")), ("text", BY_NAME)])
)

Report = Callable[[str], None]
"""A function that is called with the reason why the rows of an artefact are incomplete."""
Rows = Callable[[Structures, Artefact, Report], Iterable[tuple[Any, ...]]]
"""A function that returns the rows of an artefact, or raises SdmxError if its rows cannot be determined."""


class View(NamedTuple):
    """A kind of table.

    ``classes`` are the classes of the artefacts that it shows, as in a URN; ``("*",)`` means all. Each row begins with
    the artefact's ``urn``, ``agency``, id (in a column whose name depends on the view), and ``version``.
    """

    name: str
    classes: tuple[str, ...]
    schema: pa.Schema
    rows: Rows

    def table(self, rows: Iterable[tuple[Any, ...]]) -> pa.Table:
        """Return the rows as a table."""
        columns = list(zip(*rows, strict=True)) or [()] * len(self.schema)
        arrays = [pa.array(column, kind) for column, kind in zip(columns, self.schema.types, strict=True)]
        return pa.Table.from_arrays(arrays, schema=self.schema)


def schema(own_id: str, *columns: tuple[str, pa.DataType]) -> pa.Schema:
    """Return a schema with the columns that identify the artefact, followed by the given columns.

    Args:
        own_id: the name of the column with the artefact's id.
        columns: the names and types of the other columns.
    """
    return pa.schema([("urn", TEXT), ("agency", TEXT), (own_id, TEXT), ("version", TEXT), *columns])


def identifying_values(artefact: Artefact) -> tuple[str, str, str, str]:
    """Return the values of the columns that identify the artefact."""
    urn = artefact.urn
    return str(urn), urn.agency, urn.id, urn.version


def by_language(texts: InternationalString) -> list[tuple[str, str]]:
    """Return the first text in each language as pairs, which is the form in which Arrow accepts maps."""
    pairs = texts.texts
    return list(pairs) if len(pairs) < 2 else list(dict(reversed(pairs)).items())[::-1]


def annotation_structs(found: tuple[Annotation, ...]) -> list[dict[str, Any]]:
    """Return annotations in the form that Arrow accepts."""
    return [
        {
            "id": one.id,
            "title": one.title,
            "type": one.type,
            "value": one.value,
            "url": one.url,
            "text": by_language(one.text),
        }
        for one in found
    ]


def text(value: object) -> str | None:
    """Return a URN, number or text as text; None stays None."""
    return None if value is None else str(value)
