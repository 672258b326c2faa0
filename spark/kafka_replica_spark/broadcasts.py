"""Broadcast codelists for look-ups in UDFs, as compact Arrow.

::

    codes = broadcast(spark, snapshot, codelists=["SDMX:CL_FREQ(2.1)"])


    @pandas_udf("boolean")
    def is_frequency(values: pd.Series) -> pd.Series:
        return codes.is_code("SDMX:CL_FREQ(2.1)", values)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from pyspark.sql import SparkSession

from kafka_replica import Replica, Snapshot
from kafka_replica.errors import UsageError
from kafka_replica.sdmx import Codelist, Structures, Urn
from kafka_replica.sdmx.errors import SdmxError
from kafka_replica.sdmx.model import ValueList
from kafka_replica_spark.blocks import Block, Version, build_block, is_same, piece_of
from kafka_replica_spark.connect import refuse_connect
from kafka_replica_spark.lookups import CodelistLookups
from kafka_replica_spark.stamps import position_json
from kafka_replica_spark.tables import VIEWS, OmittedArtefact, ViewTables

_MOST_PIECES: Final = 16


def broadcast(
    spark: SparkSession,
    source: Snapshot | Replica,
    codelists: Iterable[Urn | str] | None = None,
    *,
    languages: Sequence[str] | None = None,
) -> BroadcastCodelists:
    """Send codelists and value lists of one version to the executors, for look-ups in UDFs.

    Args:
        spark: a session in this process.
        source: the version, or a replica, whose newest version is used.
        codelists: the URNs of lists, or short references to codelists; versions may be ranges of SDMX 3. None means all
            readable lists; ``unreadable`` has the others.
        languages: the languages of the names to send in addition to the default names (English, else the first); None
            means all.

    Raises:
        UsageError: the session is of Spark Connect, which has no broadcast variables; ``codelists`` is a single text or
            URN, or ``languages`` a single text; or an artefact is not a list.
        ArtefactNotFoundError: a list is not in this version.
        SdmxError: a list, or a list that it extends, cannot be read.
    """
    refuse_connect(
        spark,
        "broadcasting codelists",
        "it has no broadcast variables; join with spark.read.format('kafka_replica') instead, or use validate()",
    )
    if isinstance(codelists, str | Urn):
        raise UsageError(f"broadcasting codelists: give a list of them, [{str(codelists)!r}]")
    if isinstance(languages, str):
        raise UsageError(f"broadcasting codelists: give a list of languages, [{languages!r}]")
    requested = None if codelists is None else tuple(str(codelist) for codelist in codelists)
    return _broadcast_version(
        _Request(spark, requested, None if languages is None else tuple(languages)), source, [], {}
    )


class _Request(NamedTuple):
    """The arguments of a broadcast."""

    spark: SparkSession
    codelists: tuple[str, ...] | None
    languages: tuple[str, ...] | None


class _Piece:
    """A broadcast variable, which several versions may share."""

    def __init__(self, spark: SparkSession, value: dict[str, Any]) -> None:
        self.variable: Any = spark.sparkContext.broadcast(value)
        self.value = value
        self.size_bytes = sum(map(len, value["blocks"].values()))
        self.users = 0

    def release(self) -> None:
        """End the use by one version; the last user destroys the variable."""
        self.users -= 1
        if self.users == 0:
            self.variable.destroy()


class BroadcastCodelists(CodelistLookups):
    """Codelists of one version, for look-ups in UDFs and in the driver; see :class:`CodelistLookups`.

    A UDF that uses this object is sent with a reference to the broadcast lists. The object keeps its version;
    :meth:`refresh` returns a new object.
    """

    def __init__(
        self,
        request: _Request,
        pieces: list[_Piece],
        lists: dict[Urn, tuple[Block, int]],
        unreadable: list[OmittedArtefact],
    ) -> None:
        super().__init__(*pieces)
        self._request, self._pieces, self._lists = request, pieces, lists
        self._is_destroyed = False
        for piece in pieces:
            piece.users += 1
        self.unreadable = unreadable
        """The lists that cannot be read, with the reasons, if all lists were requested."""

    def __reduce__(self) -> tuple[Any, ...]:
        return CodelistLookups, tuple(piece.variable for piece in self._pieces)

    @property
    def size_bytes(self) -> int:
        """The memory in bytes that a Python process on an executor needs if it uses all lists."""
        return sum(piece.size_bytes for piece in self._pieces)

    def refresh(self, source: Snapshot | Replica) -> BroadcastCodelists:
        """Return the same lists of another version; only changed lists are built and sent (after :meth:`destroy`: all).

        This object keeps its own version. Release it with :meth:`destroy` when no frame uses it any more. UDFs keep the
        object with which they were created, so create new UDFs, in ``foreachBatch`` for each batch.
        """
        if self._is_destroyed:
            return _broadcast_version(self._request, source, [], {})
        return _broadcast_version(self._request, source, self._pieces, self._lists)

    def unpersist(self) -> None:
        """Remove the lists from the executors, to which they are sent again on the next use."""
        for piece in self._pieces:
            piece.variable.unpersist()

    def destroy(self) -> None:
        """Remove the lists permanently, except those that other versions share; UDFs that use them fail. Idempotent."""
        if not self._is_destroyed:
            self._is_destroyed = True
            for piece in self._pieces:
                piece.release()


def _broadcast_version(
    request: _Request,
    source: Snapshot | Replica,
    pieces: list[_Piece],
    known: Mapping[Urn, tuple[Block, int]],
) -> BroadcastCodelists:
    snapshot = source if isinstance(source, Snapshot) else source.snapshot()
    version = Version(snapshot, Structures(snapshot))
    unreadable: list[OmittedArtefact] = []
    names: dict[str, str] = {}
    blocks: dict[Urn, Block] = {}
    for requested in _all(version) if request.codelists is None else request.codelists:
        try:
            made = _block(version, requested, known, request.languages)
        except SdmxError as error:
            if request.codelists is not None:
                raise
            unreadable.append(OmittedArtefact(requested, str(error)))
            continue
        blocks[made.urn] = made
        names.setdefault(made.urn.reference, str(made.urn))
        if requested != str(made.urn):
            names[requested] = str(made.urn)
    same = {urn: known[urn][1] for urn, block in blocks.items() if urn in known and known[urn][0] is block}
    if _should_resend_all(pieces, [blocks[urn] for urn in same]):
        pieces, same = [], {}
    index = {"version": snapshot.version, "position": position_json(snapshot), "names": names}
    piece = piece_of([block for urn, block in blocks.items() if urn not in same], len(pieces), same, index)
    lists = {urn: (block, same.get(urn, len(pieces))) for urn, block in blocks.items()}
    return BroadcastCodelists(request, [*pieces, _Piece(request.spark, piece)], lists, unreadable)


def _should_resend_all(pieces: list[_Piece], same: Iterable[Block]) -> bool:
    """Return whether to send all lists again as one piece, because there are many pieces or their content is unused."""
    used = sum(len(one.data) for one in same)
    return len(pieces) >= _MOST_PIECES or 2 * used < sum(piece.size_bytes for piece in pieces)


def _all(version: Version) -> list[str]:
    return [str(urn) for urn in ViewTables(version.structures).urns(VIEWS["codes"])]


def _block(
    version: Version, requested: str, known: Mapping[Urn, tuple[Block, int]], languages: Sequence[str] | None
) -> Block:
    """Return the block of a list; an unchanged list keeps its previous block, without being decoded."""
    urn = Urn.parse(requested) if requested.startswith("urn:") else Urn.of_reference("Codelist", requested)
    there, _ = known.get(urn, (None, None))
    if there is not None and is_same(there, version):
        return there
    found = version.structures.get(urn)
    if not isinstance(found, Codelist | ValueList):
        raise UsageError(f"broadcasting {urn}: only codelists and value lists can be broadcast")
    there, _ = known.get(found.urn, (None, None))
    return there if there is not None and is_same(there, version) else build_block(version, found, languages)
