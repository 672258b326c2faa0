"""The definition of a view: a name, the classes of artefacts it shows, columns, and the rows of an artefact."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

import pyarrow as pa

from kafka_replica.sdmx import Structures
from kafka_replica.sdmx.base import Annotation
from kafka_replica.sdmx.containers import InternationalString
from kafka_replica.sdmx.model import Artefact

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
"""A function that takes the reason why the rows of an artefact are incomplete."""
Rows = Callable[[Structures, Artefact, Report], Iterable[tuple[Any, ...]]]
"""A function that returns the rows of an artefact; raises SdmxError if it cannot have rows."""


class View(NamedTuple):
    """A kind of table.

    ``classes`` are the classes of the artefacts it shows, as in a URN; ``("*",)`` for all. Each row begins with
    ``urn``, ``agency``, the id under a name specific to the view, and ``version`` of the artefact.
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
    """Return a schema of the columns that identify the artefact, followed by these columns."""
    return pa.schema([("urn", TEXT), ("agency", TEXT), (own_id, TEXT), ("version", TEXT), *columns])


def which(artefact: Artefact) -> tuple[str, str, str, str]:
    """Return the values of the columns that identify the artefact."""
    urn = artefact.urn
    return str(urn), urn.agency, urn.id, urn.version


def by_language(texts: InternationalString) -> list[tuple[str, str]]:
    """Return a text in all languages, as Arrow accepts maps; each language once, with its first text."""
    pairs = texts.texts
    return list(pairs) if len(pairs) < 2 else list(dict(reversed(pairs)).items())[::-1]


def notes(found: tuple[Annotation, ...]) -> list[dict[str, Any]]:
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
    """Return a URN, number or text as text."""
    return None if value is None else str(value)
