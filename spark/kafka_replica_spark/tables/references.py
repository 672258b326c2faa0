"""The view of references between artefacts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from kafka_replica.sdmx import Structures, Urn
from kafka_replica.sdmx.errors import ArtefactNotFoundError, SdmxError
from kafka_replica.sdmx.lookups.index.dangling_references import lacks_item
from kafka_replica.sdmx.lookups.references import late_bound, references_of
from kafka_replica.sdmx.model import Artefact, OpaqueArtefact
from kafka_replica_spark.tables.view import FLAG, TEXT, Report, View, identifying_values, schema, text


def _references(structures: Structures, artefact: Artefact, report: Report) -> Iterator[tuple[Any, ...]]:
    if isinstance(artefact, OpaqueArtefact):
        report(f"references of artefacts of class {artefact.urn.cls} cannot be read yet")
        return
    own = identifying_values(artefact)
    for target in references_of(artefact):
        resolved, dangling = _resolved(structures, late_bound(target, artefact.urn))
        yield (*own, artefact.urn.cls, str(target), target.cls, text(resolved), dangling)


def _resolved(structures: Structures, target: Urn) -> tuple[Urn | None, bool]:
    """Return the target of a reference in this version, and whether the reference is dangling.

    The result agrees with ``Structures.dangling``.
    """
    try:
        return structures.get(target).urn, False
    except ArtefactNotFoundError:
        return None, target.item is None or _lacks_item(structures, target)
    except SdmxError:
        return None, False  # the artefact exists, but cannot be read


def _lacks_item(structures: Structures, target: Urn) -> bool:
    for maintainable in target.maintainables:
        try:
            holder = structures.get(maintainable)
        except ArtefactNotFoundError:
            continue
        except SdmxError:
            return False
        return isinstance(holder, Artefact) and lacks_item(holder, target)
    return True


REFERENCES: Final = View(
    "references",
    ("*",),
    schema("id", ("class", TEXT), ("target", TEXT), ("target_class", TEXT), ("resolved", TEXT), ("dangling", FLAG)),
    _references,
)
