"""Data structures, metadata structures, flows, agreements, categorisations."""

from __future__ import annotations

from typing import Any

from kafka_replica.sdmx.model import (
    Attribute,
    Categorisation,
    Component,
    Dataflow,
    DataStructure,
    MetadataAttribute,
    Metadataflow,
    MetadataProvisionAgreement,
    MetadataStructure,
    ProvisionAgreement,
)
from support.sdmx.pysdmx_objects.basics import Work, reference, written
from support.sdmx.pysdmx_objects.library import pysdmx

_PRIMARY = "PrimaryMeasure"  # a class of 2.1, which does not state that it is mandatory


def data_structure(one: DataStructure, work: Work) -> Any:
    """Convert a data structure; concepts of components become references, and codelists become URNs."""
    if one.metadata_attribute_usages:
        raise work.refused("it has no metadata attributes in data structures")
    model = pysdmx()
    if one.dimension_list.is_stub:
        return model.DataStructureDefinition(**work.maintained(one), components=model.Components([]))
    role = model.Role
    components = [_component(part, work, required=True, role=role.DIMENSION) for part in one.dimension_list.values()]
    components += [
        _component(part, work, required=part.mandatory or part.urn.cls == _PRIMARY, role=role.MEASURE)
        for part in one.measures.values()
    ]
    components += [
        _component(
            part,
            work,
            required=part.mandatory,
            role=role.ATTRIBUTE,
            attachment_level=attachment_level(part, one),
        )
        for part in one.attributes.values()
    ]
    groups = [model.Group(**work.identified(part), dimensions=part.dimensions) for part in one.groups.values()]
    return model.DataStructureDefinition(
        **work.maintained(one),
        components=model.Components(components),
        groups=groups or None,
        evolving_structure=one.evolving_structure,
    )


def _component(one: Component, work: Work, **arguments: Any) -> Any:
    if one.concept is None:
        raise work.refused(f"its component {one.id} has no concept")
    return pysdmx().Component(
        id=one.id,
        concept=reference(one.concept),
        urn=str(one.urn),
        **work.representation(one.representation, "local_"),
        **work.bounds(one.representation),
        **arguments,
    )


def attachment_level(one: Attribute, structure: DataStructure) -> str:
    """Return ``D``, ``O``, or ids of measures and dimensions with commas, like pysdmx's own readers.

    A group becomes its dimensions. A single measure with the id OBS_VALUE becomes just ``O``.
    """
    about = one.relationship
    dimensions = list(about.dimensions)
    for id_ in about.groups:
        group = structure.groups.get(id_)
        dimensions += [] if group is None else [part for part in group.dimensions if part not in dimensions]
    if about.measures and about.measures != ("OBS_VALUE",):
        return ",".join([*about.measures, *dimensions])
    if about.kind == "observation" or about.measures:
        return "O"
    return ",".join(dimensions) or "D"


def dataflow(one: Dataflow, work: Work) -> Any:
    """Convert a dataflow, with the URN of its structure."""
    if one.dimension_constraint:
        raise work.refused("it has no flows that use some of the dimensions only")
    return pysdmx().Dataflow(**work.maintained(one), structure=written(one.structure_reference))


def metadataflow(one: Metadataflow, work: Work) -> Any:
    """Convert a metadataflow, with the URN of its structure."""
    return pysdmx().Metadataflow(
        **work.maintained(one), structure=written(one.structure_reference), targets=one.targets
    )


def categorisation(one: Categorisation, work: Work) -> Any:
    """Convert a categorisation."""
    return pysdmx().Categorisation(
        **work.maintained(one), source=written(one.source) or "", target=written(one.target) or ""
    )


def provision_agreement(one: ProvisionAgreement, work: Work) -> Any:
    """Convert a provision agreement for a dataflow."""
    if one.structure_usage is not None and one.dataflow is None:
        raise work.refused("it has provision agreements for dataflows only")
    return pysdmx().ProvisionAgreement(
        **work.maintained(one), dataflow=written(one.dataflow) or "", provider=written(one.data_provider) or ""
    )


def metadata_provision_agreement(one: MetadataProvisionAgreement, work: Work) -> Any:
    """Convert a metadata provision agreement."""
    return pysdmx().MetadataProvisionAgreement(
        **work.maintained(one),
        metadataflow=written(one.metadataflow) or "",
        metadata_provider=written(one.metadata_provider) or "",
    )


def metadata_structure(one: MetadataStructure, work: Work) -> Any:
    """Convert a metadata structure of 3.x."""
    if one.metadata_attributes.is_stub:
        return pysdmx().MetadataStructure(**work.maintained(one))
    if one.metadata_targets or one.report_structures:
        raise work.refused("it has no targets and reports (2.1)")
    return pysdmx().MetadataStructure(
        **work.maintained(one), components=tuple(_attribute(part, work) for part in one.metadata_attributes.values())
    )


def _attribute(one: MetadataAttribute, work: Work) -> Any:
    least = 1 if one.min_occurs is None else one.min_occurs
    most = None if one.max_occurs == "unbounded" else 1 if one.max_occurs is None else one.max_occurs
    return pysdmx().MetadataComponent(
        **work.identified(one),
        is_presentational=one.is_presentational,
        concept=reference(one.concept),
        **work.representation(one.representation, "local_"),
        array_def=pysdmx().ArrayBoundaries(least, most),
        components=tuple(_attribute(child, work) for child in one.metadata_attributes.values()),
    )
