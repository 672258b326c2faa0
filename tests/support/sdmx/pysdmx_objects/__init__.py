"""Artefacts as objects of pysdmx, built without its readers: the expected result of reading the same content."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from kafka_replica.sdmx.errors import NotExpressibleError
from kafka_replica.sdmx.model import Artefact
from support.sdmx.pysdmx_objects import constraints, maps, reports, schemes, structures, vtl
from support.sdmx.pysdmx_objects.basics import Work
from support.sdmx.pysdmx_objects.library import pysdmx

__all__ = ["to_pysdmx"]

_TO: Final[dict[str, Callable[[Any, Work], Any]]] = {
    **dict.fromkeys(
        ("AgencyScheme", "DataProviderScheme", "DataConsumerScheme", "MetadataProviderScheme"), schemes.organisations
    ),
    "Codelist": schemes.codelist,
    "ValueList": schemes.value_list,
    "ConceptScheme": schemes.concept_scheme,
    "CategoryScheme": schemes.category_scheme,
    "Hierarchy": schemes.hierarchy,
    "HierarchyAssociation": schemes.hierarchy_association,
    "Categorisation": structures.categorisation,
    "DataStructure": structures.data_structure,
    "Dataflow": structures.dataflow,
    "MetadataStructure": structures.metadata_structure,
    "Metadataflow": structures.metadataflow,
    "ProvisionAgreement": structures.provision_agreement,
    "MetadataProvisionAgreement": structures.metadata_provision_agreement,
    **dict.fromkeys(("DataConstraint", "ContentConstraint"), constraints.data_constraint),
    "RepresentationMap": maps.representation_map,
    "StructureMap": maps.structure_map,
    "MetadataSet": reports.metadata_report,
    "CustomTypeScheme": vtl.custom_types,
    "NamePersonalisationScheme": vtl.name_personalisations,
    "RulesetScheme": vtl.rulesets,
    "TransformationScheme": vtl.transformations,
    "UserDefinedOperatorScheme": vtl.operators,
    "VtlMappingScheme": vtl.mappings,
}


def to_pysdmx(artefact: Artefact, *, language: str | None = None) -> Any:
    """Return the artefact as an object of pysdmx's model.

    An artefact whose meaning would change through a loss is refused. Concepts of components and enumerations are
    references.

    Args:
        artefact: of a class that pysdmx has.
        language: of names, descriptions and texts; without it English if available, otherwise the first.

    Raises:
        MissingExtraError: pysdmx is not installed (extra ``pysdmx``).
        NotExpressibleError: pysdmx has no such class, or would give the artefact another meaning.
    """
    library = pysdmx()
    work = Work(artefact.urn, language)
    convert = _TO.get(artefact.urn.cls)
    if convert is None:
        raise work.refused(f"it has no class for a {artefact.urn.cls}")
    try:
        return convert(artefact, work)
    except library.Invalid as error:
        raise NotExpressibleError(f"converting {artefact.urn} to pysdmx: pysdmx refuses it ({error})") from error
