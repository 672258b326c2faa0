"""Look-ups within an artefact: the items above and below an item, the nodes of a hierarchy."""

from __future__ import annotations

from kafka_replica.sdmx.errors import UrnError
from kafka_replica.sdmx.lookups.artefacts import ArtefactReader, Reference, urn_of
from kafka_replica.sdmx.lookups.hierarchy_tree import AnyHierarchy, HierarchyTree
from kafka_replica.sdmx.model import Codelist, Hierarchy, HierarchyOfCodelist
from kafka_replica.sdmx.model.base import ItemScheme


def hierarchy_tree(artefacts: ArtefactReader, hierarchy: Reference | AnyHierarchy) -> HierarchyTree:
    """Return a hierarchy to traverse: see ``Structures.hierarchy_tree``."""
    if isinstance(hierarchy, Hierarchy | HierarchyOfCodelist):
        return HierarchyTree(hierarchy, artefacts.get)
    found = artefacts.get(urn_of("Hierarchy", hierarchy))
    if not isinstance(found, Hierarchy | HierarchyOfCodelist):
        raise UrnError(f"walking {found.urn}: it is not a hierarchy; name one, within a list by its id after a dot")
    return HierarchyTree(found, artefacts.get)


def scheme_of(artefacts: ArtefactReader, reference: Reference) -> tuple[ItemScheme, str]:
    """Return the scheme that holds an item, with all its items, and the path of the item."""
    urn = artefacts.get(reference).urn
    found = artefacts.artefact(urn)
    if urn.item is None or not isinstance(found, ItemScheme):
        raise UrnError(f"looking for the siblings of {urn}: it is not an item of a scheme; name, for example, a code")
    return (artefacts.expand(found) if isinstance(found, Codelist) else found), urn.item
