"""Codelists for UDFs, as a broadcast variable of compact Arrow.

::

    codes = broadcast(spark, snapshot, codelists=["SDMX:CL_FREQ(2.1)"])


    @pandas_udf("boolean")
    def is_frequency(values: pd.Series) -> pd.Series:
        return codes.is_code("SDMX:CL_FREQ(2.1)", values)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from pyspark.sql import SparkSession

from kafka_replica import Replica, Snapshot
from kafka_replica.errors import SdmxError, UsageError
from kafka_replica.sdmx import Codelist, Structures, Urn
from kafka_replica.sdmx.model import ValueList
from kafka_replica_spark.blocks import Block, Version, block, is_same, joined
from kafka_replica_spark.connect import refuse_connect
from kafka_replica_spark.lookups import CodelistLookups
from kafka_replica_spark.stamps import cut_json
from kafka_replica_spark.tables import VIEWS, Unreadable, ViewTables


def broadcast(
    spark: SparkSession,
    source: Snapshot | Replica,
    codelists: Iterable[Urn | str] | None = None,
    *,
    languages: Sequence[str] | None = None,
) -> BroadcastCodelists:
    """Sends codelists and value lists of one version to the executors, for look-ups in UDFs.

    Args:
        spark: a session in this process.
        source: the version, or a replica whose newest one is taken.
        codelists: which lists, by URN, or codelists by short reference; versions may be rules of SDMX 3. None: all that
            can be read; ``unreadable`` lists the others.
        languages: of which names go along, beside the default ones (English, else the first); None: all.

    Raises:
        UsageError: on Spark Connect, which has no broadcast variables.
        ArtefactNotFoundError: a list is not in this version.
        SdmxError: a list, or one that it extends, cannot be read.
    """
    refuse_connect(
        spark,
        "broadcasting codelists",
        "it has no broadcast variables; join with spark.read.format('kafka_replica') instead, or validate()",
    )
    asked = None if codelists is None else tuple(str(one) for one in codelists)
    return _made(_Request(spark, asked, None if languages is None else tuple(languages)), source, ())


class _Request(NamedTuple):
    """What was asked for."""

    spark: SparkSession
    codelists: tuple[str, ...] | None
    languages: tuple[str, ...] | None


class BroadcastCodelists(CodelistLookups):
    """Codelists of one version, to be looked up in UDFs, and in the driver as well; see :class:`CodelistLookups`.

    A UDF that uses this object takes the look-ups with it. It keeps its version; :meth:`refresh` makes another one.
    """

    def __init__(self, request: _Request, data: bytes, blocks: list[Block], unreadable: list[Unreadable]) -> None:
        variable: Any = request.spark.sparkContext.broadcast(data)
        super().__init__(variable)
        self._here, self._request, self._made_blocks = data, request, blocks
        self._variable = variable
        self.unreadable = unreadable
        """The lists that were not asked for by name and cannot be read, and why."""

    def __reduce__(self) -> tuple[Any, ...]:
        return CodelistLookups, (self._variable,)

    @property
    def size_bytes(self) -> int:
        """What each Python process on an executor holds."""
        return len(self._here)

    def refresh(self, source: Snapshot | Replica) -> BroadcastCodelists:
        """The same lists of another version; lists that have not changed are not made anew.

        This object goes on answering for its own version. Let go of it with :meth:`destroy` when no frame uses it any
        more. UDFs keep what they were made with, so make them anew, in ``foreachBatch`` for each batch.
        """
        return _made(self._request, source, self._made_blocks)

    def unpersist(self) -> None:
        """Takes it away from the executors; it is sent again if it is used again."""
        self._variable.unpersist()

    def destroy(self) -> None:
        """Takes it away for good: what uses it fails from now on."""
        self._variable.destroy()

    def _bytes(self) -> bytes:
        return self._here


def _made(request: _Request, source: Snapshot | Replica, known: Iterable[Block]) -> BroadcastCodelists:
    snapshot = source if isinstance(source, Snapshot) else source.snapshot()
    version = Version(snapshot, Structures(snapshot))
    unreadable: list[Unreadable] = []
    lists = _asked(version, request.codelists)
    kept = {one.urn: one for one in known}
    names: dict[str, str] = {}
    blocks: dict[Urn, Block] = {}
    for asked, urn in lists:
        try:
            blocks[urn] = blocks.get(urn) or _block(version, urn, kept.get(urn), request.languages)
        except SdmxError as error:
            if request.codelists is not None:
                raise
            unreadable.append(Unreadable(str(urn), str(error)))
            continue
        names.setdefault(urn.reference, str(urn))
        if asked != str(urn):
            names[asked] = str(urn)
    data, made = joined(blocks.values(), names, snapshot.version, cut_json(snapshot))
    return BroadcastCodelists(request, data, made, unreadable)


def _asked(version: Version, codelists: tuple[str, ...] | None) -> list[tuple[str, Urn]]:
    """What was asked for, as it was written, and what it means in this version."""
    if codelists is None:
        return [(str(urn), urn) for urn in ViewTables(version.structures).urns(VIEWS["codes"])]
    return [(one, _meant(version, one)) for one in codelists]


def _meant(version: Version, reference: str) -> Urn:
    if reference.startswith("urn:"):
        return _list(version, Urn.parse(reference)).urn
    return version.structures.codelist(reference).urn


def _list(version: Version, urn: Urn) -> Codelist | ValueList:
    found = version.structures.get(urn)
    if not isinstance(found, Codelist | ValueList):
        raise UsageError(f"broadcasting {urn}: only codelists and value lists can be broadcast")
    return found


def _block(version: Version, urn: Urn, known: Block | None, languages: Sequence[str] | None) -> Block:
    if known is not None and is_same(known, version):
        return known
    return block(version, _list(version, urn), languages)
