"""Convert artefacts to objects of sdmx1 (imported as ``sdmx``), and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from kafka_replica.sdmx.errors import NotExpressibleError
from kafka_replica.sdmx.exchange.differences import differences
from kafka_replica.sdmx.exchange.sdmx1 import (
    constraints,
    data_structures,
    hierarchies,
    metadata,
    nested_schemes,
    reference_artefacts,
    schemes,
)
from kafka_replica.sdmx.exchange.sdmx1.library import sdmx1
from kafka_replica.sdmx.exchange.sdmx1.shared_parts import Edition, our_name
from kafka_replica.sdmx.model import Artefact, DataStructure, MetadataStructure

__all__ = ["Edition", "from_sdmx1", "lost_in_sdmx1", "to_sdmx1", "to_sdmx1_message"]

_TO: Final[dict[str, Callable[[Any, Edition], Any]]] = {
    **dict.fromkeys(schemes.KINDS, schemes.scheme_to),
    **dict.fromkeys(("CategoryScheme", "ReportingTaxonomy"), nested_schemes.tree_to),
    "ValueList": nested_schemes.value_list_to,
    "DataStructure": data_structures.data_structure_to,
    "MetadataStructure": metadata.metadata_structure_to,
    **dict.fromkeys(reference_artefacts.LINKS, reference_artefacts.link_to),
    **dict.fromkeys(("ContentConstraint", "DataConstraint"), constraints.constraint_to),
    "Hierarchy": hierarchies.hierarchy_to,
    "HierarchicalCodelist": hierarchies.hierarchical_codelist_to,
    "StructureSet": reference_artefacts.structure_set_to,
}
_FROM: Final[dict[str, Callable[[Any], Artefact]]] = {
    **dict.fromkeys(schemes.KINDS, schemes.scheme_from),
    **dict.fromkeys(("CategoryScheme", "ReportingTaxonomy"), nested_schemes.tree_from),
    "ValueList": nested_schemes.value_list_from,
    "DataStructure": data_structures.data_structure_from,
    "MetadataStructure": metadata.metadata_structure_from,
    **dict.fromkeys(reference_artefacts.LINKS, reference_artefacts.link_from),
    **dict.fromkeys(("ContentConstraint", "DataConstraint"), constraints.constraint_from),
    "Hierarchy": hierarchies.hierarchy_from,
    "HierarchicalCodelist": hierarchies.hierarchical_codelist_from,
    "StructureSet": reference_artefacts.structure_set_from,
}
_ONE_EDITION: Final[dict[str, Edition]] = {
    "ContentConstraint": "2.1",
    "DataConstraint": "3.0",
    "HierarchicalCodelist": "2.1",
    "Hierarchy": "3.0",
    "HierarchyAssociation": "3.0",
    "StructureSet": "2.1",
}


def to_sdmx1(artefact: Artefact, *, edition: Edition | None = None) -> Any:
    """Return the artefact as an object of sdmx1's model.

    References become objects with an id and a URN that are marked as external, as in sdmx1's own reader. sdmx1 cannot
    represent links, occurrences, sentinel values, extensions of codelists and some other parts:
    ``docs/sdmx-libraries.md`` lists them, and :func:`lost_in_sdmx1` reports them for one artefact.

    Args:
        artefact: an artefact of a class that sdmx1 has.
        edition: the model, ``sdmx.model.v21`` or ``v30``, for classes that are in both. By default, the model that can
            represent the artefact; if both can, that of 2.1, unless the version has three parts.

    Raises:
        MissingExtraError: sdmx1 is not installed (extra ``sdmx1``).
        NotExpressibleError: sdmx1 has no such class, or would give a part another meaning.
    """
    cls = artefact.urn.cls
    convert = _TO.get(cls)
    if convert is None:
        raise NotExpressibleError(f"converting {artefact.urn} to sdmx1: sdmx1 {_version()} has no class for a {cls}")
    return convert(artefact, _ONE_EDITION.get(cls) or edition or _edition_of(artefact))


def _version() -> str:
    sdmx1()
    from importlib.metadata import version  # noqa: PLC0415 - for an error only

    return version("sdmx1")


def _edition_of(artefact: Artefact) -> Edition:
    if isinstance(artefact, DataStructure) and not artefact.measures.is_stub and artefact.measures:
        return "3.0" if any(measure.urn.cls == "Measure" for measure in artefact.measures.values()) else "2.1"
    if isinstance(artefact, DataStructure) and (artefact.metadata is not None or artefact.metadata_attribute_usages):
        return "3.0"
    if isinstance(artefact, MetadataStructure) and not artefact.metadata_attributes.is_stub:
        return "3.0" if artefact.metadata_attributes else "2.1"
    return "3.0" if artefact.version.partition("-")[0].count(".") == 2 else "2.1"


def from_sdmx1(obj: Any) -> Artefact:
    """Return the artefact of an object of sdmx1's model.

    ``from_sdmx1(to_sdmx1(x)) == x`` holds for everything that sdmx1 can represent. The URN is built from the object's
    class, maintainer, id and version; a missing version is 1.0.

    Raises:
        MissingExtraError: sdmx1 is not installed.
        NotExpressibleError: the object is of another class, or has no maintainer.
        UrnError: SDMX does not allow the id, agency or version.
    """
    sdmx1()
    convert = _FROM.get(our_name(obj))
    if convert is None:
        raise NotExpressibleError(
            f"converting {obj!r} from sdmx1: objects of class {type(obj).__name__} are not converted"
        )
    return convert(obj)


def to_sdmx1_message(artefacts: Iterable[Artefact], *, edition: Edition | None = None) -> Any:
    """Return a ``sdmx.message.StructureMessage`` of these artefacts, for example for sdmx1's own writers.

    ``sdmx.to_xml`` writes SDMX-ML 2.1, so pass ``edition="2.1"``. A message of sdmx1 holds one artefact per class and
    id: it would lose one of two codelists that differ only in agency or version, so these are refused.

    Raises:
        MissingExtraError: sdmx1 is not installed.
        NotExpressibleError: see :func:`to_sdmx1`; or two artefacts have the same class and id.
    """
    message = sdmx1().message.StructureMessage()
    for artefact in artefacts:
        made = to_sdmx1(artefact, edition=edition)
        known = len(list(message.iter_objects()))
        message.add(made)
        if len(list(message.iter_objects())) == known:
            raise NotExpressibleError(
                f"making a message of sdmx1: it can contain one artefact of class {artefact.urn.cls} with id "
                f"{artefact.id}, but there are several; make a message for each"
            )
    return message


def lost_in_sdmx1(artefact: Artefact, *, edition: Edition | None = None) -> tuple[str, ...]:
    """Return the paths of all parts of this artefact that sdmx1 cannot represent, such as ``codes['A'].links``.

    Raises the errors of :func:`to_sdmx1`.
    """
    return tuple(differences(artefact, from_sdmx1(to_sdmx1(artefact, edition=edition))))
