"""The structures of one version as DataFrames."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any, Final, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from kafka_replica import Snapshot
from kafka_replica.errors import SdmxError
from kafka_replica.sdmx import Codelist, Structures

VERSION: Final = "_version"
"""The column that holds the number of the version a row comes from."""
CUT: Final = "_cut"
"""The column that holds its cut: a JSON object, ``{"topic-partition": offset}``."""

_CLASSES: Final = ("Codelist", "GeographicCodelist", "GeoGridCodelist")
_FIELDS: Final[list[tuple[str, pa.DataType]]] = [
    ("urn", pa.string()),
    ("agency", pa.string()),
    ("codelist", pa.string()),
    ("version", pa.string()),
    ("code", pa.string()),
    ("name", pa.string()),
    ("parent", pa.string()),
    ("position", pa.int32()),
    ("names", pa.map_(pa.string(), pa.string())),
    (VERSION, pa.int64()),
    (CUT, pa.string()),
]


class Unreadable(NamedTuple):
    """An artefact that should be in a frame and cannot be read."""

    urn: str
    reason: str


def views(spark: SparkSession, snapshot: Snapshot) -> Views:
    """DataFrames of what a snapshot holds; see :class:`Views`."""
    return Views(spark, snapshot)


def cut_json(snapshot: Snapshot) -> str:
    """The cut of a snapshot as JSON, ``{"topic-partition": offset}``."""
    return json.dumps(snapshot.cut.as_json())


class Views:
    """DataFrames of one version.

    A frame is a copy: it keeps its version for life, whatever becomes of the replica or the snapshot.
    """

    def __init__(self, spark: SparkSession, snapshot: Snapshot) -> None:
        self._spark = spark
        self._snapshot = snapshot
        self._structures = Structures(snapshot)

    @property
    def version(self) -> int:
        """The version all frames come from."""
        return self._snapshot.version

    @property
    def unreadable(self) -> list[Unreadable]:
        """The codelists of this version that are in no frame, and why: damaged, stubs, formats not read yet."""
        return list(self._read[1])

    def codes(self, agency: str = "*", id: str = "*") -> DataFrame:  # noqa: A002 - SDMX calls it so
        """All codes of all codelists that can be read; see :attr:`unreadable` for the others.

        Columns: ``urn`` (of the codelist), ``agency``, ``codelist`` (its id), ``version``, ``code``, ``name``
        (English, else the first), ``parent`` (id of a code of the list), ``position`` (from 1, in the order of
        the message), ``names`` (map of language to text), and, the same in each row, ``_version`` (long) and
        ``_cut`` (JSON). Codes that a list of 3.x takes from another by extension are in the other's rows only.

        Args:
            agency: only codelists of this agency; ``*`` stands for any text.
            id: only codelists with this id; ``*`` stands for any text.
        """
        wanted = {urn for cls in _CLASSES for urn in self._structures.find(cls, agency, id)}
        chosen = [codelist for urn, codelist in self._read[0].items() if urn in wanted]
        return self._spark.createDataFrame(_table(chosen, self.version, cut_json(self._snapshot)))

    @cached_property
    def _read(self) -> tuple[dict[Any, Codelist], list[Unreadable]]:
        readable: dict[Any, Codelist] = {}
        unreadable: list[Unreadable] = []
        for urn in sorted(urn for cls in _CLASSES for urn in self._structures.find(cls)):
            try:
                artefact = self._structures.get(urn)
                if not isinstance(artefact, Codelist):
                    unreadable.append(Unreadable(str(urn), f"artefacts of class {urn.cls} cannot be read yet"))
                    continue
                len(artefact.codes)  # a stub refuses
            except SdmxError as error:
                unreadable.append(Unreadable(str(urn), str(error)))
            else:
                readable[urn] = artefact
        return readable, unreadable


def _table(codelists: list[Codelist], version: int, cut: str) -> pa.Table:
    rows: list[tuple[Any, ...]] = []
    for codelist in codelists:
        urn = codelist.urn
        of_list = str(urn), urn.agency, urn.id, urn.version
        rows += [
            (*of_list, code.id, code.name(), code.parent, position, list(dict(code.names).items()), version, cut)
            for position, code in enumerate(codelist.codes.values(), start=1)
        ]
    columns = list(zip(*rows, strict=True)) or [()] * len(_FIELDS)
    arrays = {name: pa.array(column, type=kind) for (name, kind), column in zip(_FIELDS, columns, strict=True)}
    return pa.table(arrays)
