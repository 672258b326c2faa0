"""The structures of one version as DataFrames, from a replica in this process."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from kafka_replica import Replica, Snapshot
from kafka_replica.sdmx import Structures
from kafka_replica_spark.stamps import POSITION, VERSION, position_json, stamp_metadata, stamped_schema
from kafka_replica_spark.tables import VIEWS, OmittedArtefact, Selection, ViewTables

__all__ = ["POSITION", "VERSION", "OmittedArtefact", "Views", "position_json", "views"]


def views(spark: SparkSession, source: Snapshot | Replica) -> Views:
    """Return the structures of a snapshot, or of a replica's newest version, as DataFrames; see :class:`Views`.

    Raises:
        NotReadyError: the replica has no version yet.
    """
    return Views(spark, source if isinstance(source, Snapshot) else source.snapshot())


class Views:
    """The structures of one version as DataFrames, the same as from ``spark.read.format("kafka_replica")``.

    A frame is a copy: it keeps its version permanently, regardless of the replica and the snapshot. Its last columns
    are ``_version`` (long) and ``_position`` (string, JSON), with the same values in each row; their metadata in the
    schema has ``view``, ``version``, ``position``, ``unreadable_count`` and ``unreadable``.

    The arguments of all views select artefacts by ``agency``, ``id`` and ``version``: ``*`` matches any text, and
    ``version`` may be a range of SDMX 3, such as ``1.0+``, or ``+`` for the latest stable version.
    """

    def __init__(self, spark: SparkSession, snapshot: Snapshot) -> None:
        self._spark = spark
        self._snapshot = snapshot
        self._tables = ViewTables(Structures(snapshot))
        self._unreadable: dict[OmittedArtefact, None] = {}

    def __repr__(self) -> str:
        return f"<Views of {self._snapshot.summary()}>"

    @property
    def version(self) -> int:
        """The version that all frames come from."""
        return self._snapshot.version

    @property
    def unreadable(self) -> list[OmittedArtefact]:
        """The artefacts that are missing from the frames so far, or incomplete in them, with the reasons.

        They are damaged, stubs, or of unknown classes.
        """
        return list(self._unreadable)

    def structures(self, agency: str = "*", id: str = "*", version: str = "*") -> DataFrame:  # noqa: A002
        """Return all artefacts of any class, one per row."""
        return self._frame("structures", Selection(agency, id, version))

    def codes(self, agency: str = "*", id: str = "*", version: str = "*") -> DataFrame:  # noqa: A002
        """Return the codes of codelists and the values of value lists, including inherited codes (``inherited``)."""
        return self._frame("codes", Selection(agency, id, version))

    def concepts(self, agency: str = "*", id: str = "*", version: str = "*") -> DataFrame:  # noqa: A002
        """Return the concepts of concept schemes."""
        return self._frame("concepts", Selection(agency, id, version))

    def components(self, agency: str = "*", id: str = "*", version: str = "*") -> DataFrame:  # noqa: A002
        """Return the components of data structures, each with its own representation, or else that of its concept."""
        return self._frame("components", Selection(agency, id, version))

    def constraints(self, agency: str = "*", id: str = "*", version: str = "*") -> DataFrame:  # noqa: A002
        """Return the selections of constraints, with a row for each value, or for each component without values."""
        return self._frame("constraints", Selection(agency, id, version))

    def mappings(self, agency: str = "*", id: str = "*", version: str = "*") -> DataFrame:  # noqa: A002
        """Return the rules of structure maps, representation maps, item scheme maps and structure sets, one per row."""
        return self._frame("mappings", Selection(agency, id, version))

    def hierarchies(self, agency: str = "*", id: str = "*", version: str = "*") -> DataFrame:  # noqa: A002
        """Return the nodes of hierarchies, parents first."""
        return self._frame("hierarchies", Selection(agency, id, version))

    def references(self, agency: str = "*", id: str = "*", version: str = "*") -> DataFrame:  # noqa: A002
        """Return the references of each artefact, as written (``target``) and as resolved in this version."""
        return self._frame("references", Selection(agency, id, version))

    def _frame(self, name: str, selection: Selection) -> DataFrame:
        unreadable: list[OmittedArtefact] = []
        table = self._tables.table(VIEWS[name], selection, unreadable.append)
        self._unreadable.update(dict.fromkeys(unreadable))
        position = position_json(self._snapshot)
        schema = stamped_schema(table.schema, stamp_metadata(name, self.version, position, unreadable))
        stamp = schema[VERSION].metadata
        return self._spark.createDataFrame(table).select(
            "*",
            F.lit(self.version).cast("bigint").alias(VERSION, metadata=stamp),
            F.lit(position).alias(POSITION, metadata=stamp),
        )
