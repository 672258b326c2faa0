"""Read the artefacts of a version for a view, and report those that cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, cast

import pyarrow as pa

from kafka_replica.errors import UsageError
from kafka_replica.sdmx import Structures, Urn
from kafka_replica.sdmx.containers import stub_error
from kafka_replica.sdmx.errors import SdmxError
from kafka_replica.sdmx.lookups.patterns import fitting, meant, pattern
from kafka_replica.sdmx.model import ARTEFACTS, Artefact, OpaqueArtefact
from kafka_replica.sdmx.urns.versions import LATEST, is_rule, is_version
from kafka_replica_spark.tables.view import View


class Selection(NamedTuple):
    """A selection of artefacts; ``*`` matches any text, ``version`` may be an SDMX 3 range (``1.0+``, ``+``, ``~``)."""

    agency: str = "*"
    id: str = "*"
    version: str = "*"

    def of(self, urns: Iterable[Urn]) -> list[Urn]:
        """Return the selected URNs, sorted.

        Raises:
            UsageError: ``version`` is neither a version, a pattern nor a range.
        """
        if not is_version(self.version.replace("*", "0")) and not is_rule(self.version):
            raise UsageError(
                f"selecting artefacts of version {self.version!r}: give a version (1.0), a pattern (1.*) or a rule of "
                "SDMX 3 (1.0+, +, ~)"
            )
        agency, id_ = pattern(self.agency), pattern(self.id)
        found = [urn for urn in urns if fitting(agency, urn.agency) and fitting(id_, urn.id)]
        if "+" in self.version or self.version == LATEST:
            return meant(self.version, found)
        version = pattern(self.version)
        return sorted(urn for urn in found if fitting(version, urn.version))


ALL = Selection()


class OmittedArtefact(NamedTuple):
    """An artefact that is missing from a frame or incomplete in it, with the reason."""

    urn: str
    reason: str


class ViewTables:
    """The tables of one version, built on request."""

    def __init__(self, structures: Structures) -> None:
        self._structures = structures

    def urns(self, view: View, selection: Selection = ALL) -> list[Urn]:
        """Return the artefacts that a view shows, sorted, including those in the messages of other artefacts."""
        there = [urn for cls in view.classes for urn in self._structures.find(cls, selection.agency, selection.id)]
        along = self._structures.companions()
        return selection.of({*there, *(urn for urn in along if "*" in view.classes or urn.cls in view.classes)})

    def tables(
        self, view: View, selection: Selection = ALL, report: Callable[[OmittedArtefact], None] = lambda _: None
    ) -> Iterator[pa.Table]:
        """Yield a table for each artefact, without empty tables.

        Args:
            view: one of ``VIEWS``.
            selection: the selected artefacts.
            report: is called with each artefact that cannot be read, or only in part.
        """
        for urn in self.urns(view, selection):
            found = self._table(view, urn, report)
            if found is not None and found.num_rows:
                yield found

    def table(
        self, view: View, selection: Selection = ALL, report: Callable[[OmittedArtefact], None] = lambda _: None
    ) -> pa.Table:
        """Return the rows of all artefacts in one table; see :meth:`tables` for the arguments."""
        return pa.concat_tables([view.schema.empty_table(), *self.tables(view, selection, report)])

    def _table(self, view: View, urn: Urn, report: Callable[[OmittedArtefact], None]) -> pa.Table | None:
        reasons: list[str] = []
        try:
            artefact = cast("Artefact", self._structures.get(urn))
            rows: list[tuple[object, ...]] = []
            if "*" not in view.classes and isinstance(artefact, OpaqueArtefact):
                reasons.append(_opaque(urn))
            elif "*" not in view.classes and artefact.is_stub:
                raise stub_error(urn)
            else:
                rows = list(view.rows(self._structures, artefact, reasons.append))
            table = view.table(rows)
        except SdmxError as error:
            report(OmittedArtefact(str(urn), str(error)))
            return None
        for reason in reasons:
            report(OmittedArtefact(str(urn), reason))
        return table


def _opaque(urn: Urn) -> str:
    what = "the content of this record" if urn.cls in ARTEFACTS else f"artefacts of class {urn.cls}"
    return f"{what} cannot be read into the model; its bytes are in the replica"
