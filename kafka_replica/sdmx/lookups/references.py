"""The references of an artefact, as written. Module ``index`` resolves them within a version."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from kafka_replica.sdmx.containers import Items, StubTuple, is_compound
from kafka_replica.sdmx.errors import UrnError
from kafka_replica.sdmx.model import Artefact, Codelist, Metadataflow, MetadataProvisionAgreement, MetadataSet
from kafka_replica.sdmx.urns.urn import Urn, order_of
from kafka_replica.sdmx.urns.versions import rule_in

_WITH_TARGETS: Final = {"Metadataflow", "MetadataProvisionAgreement", "MetadataSet"}


class DanglingReference(NamedTuple):
    """A dangling reference: the artefact that contains it, and its target."""

    source: Urn
    target: Urn


def references_of(artefact: Artefact) -> tuple[Urn, ...]:
    """Return all targets in other artefacts that an artefact refers to, sorted; items by their own URNs.

    Links and annotations are not references. The references of an OpaqueArtefact are unknown. Targets of metadataflows,
    metadata provision agreements and metadata sets with wildcards in agency or id name no artefact.
    """
    return references_in(artefact, artefact.urn.maintainable)


def references_in(part: object, own: Urn) -> tuple[Urn, ...]:
    """Return all targets in other artefacts that an artefact, or an item or other part of it, refers to, sorted.

    Args:
        part: the artefact or part.
        own: the URN of the artefact; references to it and its items are left out.
    """
    found: set[Urn] = set()
    _collect(part, found)
    return tuple(sorted((urn for urn in found if urn.maintainable != own), key=order_of))


def late_bound(target: Urn, source: Urn) -> Urn:
    """Return a reference's target with its version rule interpreted for the artefact, which may be a draft."""
    version = rule_in(target.version, source.version) if "+" in target.version else target.version
    if version == target.version:
        return target
    return Urn(target.package, target.cls, target.agency, target.id, version, target.item)


def means_every_version(target: Urn, source: Urn) -> bool:
    """Return whether a reference means all versions: ``*`` in what metadata is attached to, not only the newest.

    Source: SDMX 3.0 Section 6, annex "Semantic Versioning".
    """
    return target.version == "*" and source.cls in _WITH_TARGETS


def _collect(part: object, found: set[Urn]) -> None:
    stack: list[Any] = [part]
    while stack:
        one = stack.pop()
        if isinstance(one, Urn):
            found.add(one)
        elif is_compound(one):
            # Codes have no references, and there are many codes.
            skipped = {"urn", "codes"} if isinstance(one, Codelist) else {"urn"}
            stack.extend(getattr(one, name) for name in one.__struct_fields__ if name not in skipped)
            if isinstance(one, (Metadataflow, MetadataProvisionAgreement, MetadataSet)):
                found.update(_named(one.targets))
        elif isinstance(one, Items):
            stack.extend(() if one.is_stub else one.values())
        elif isinstance(one, tuple) and not isinstance(one, StubTuple):
            stack.extend(one)


def _named(targets: tuple[str, ...]) -> Iterator[Urn]:
    """Yield the URNs among the targets of metadata, which may have wildcards in places where a URN has none."""
    for target in targets:
        try:
            yield Urn.parse(target)
        except UrnError:
            continue


def walk(start: Urn, children: Callable[[Urn], tuple[Urn, ...]]) -> tuple[Urn, ...]:
    """Return everything reachable from a URN, breadth first, without the URN itself. Cycles are safe."""
    found: dict[Urn, None] = {start: None}
    level = [start]
    while level:
        level = [child for urn in level for child in children(urn) if child not in found]
        level = list(dict.fromkeys(level))
        found.update(dict.fromkeys(level))
    del found[start]
    return tuple(found)
