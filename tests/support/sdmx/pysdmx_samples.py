"""Artefacts of the samples, to be made objects of pysdmx."""

from __future__ import annotations

from typing import Any

from kafka_replica.sdmx import read_message
from kafka_replica.sdmx.samples import sample_files
from support.paths import SDMX_DATA


def of_class(cls: str, name: str = "every_class.sdmx30.xml") -> Any:
    """Return the artefact of this class in a sample."""
    return next(one for one in read_message((SDMX_DATA / name).read_bytes()) if one.urn.cls == cls)


def sample(id_: str) -> Any:
    """Return the artefact with this id in the package's samples."""
    return next(one for path in sample_files() for one in read_message(path.read_bytes()) if one.id == id_)


EXPRESSIBLE = [
    "AgencyScheme",
    "Categorisation",
    "CategoryScheme",
    "ConceptScheme",
    "CustomTypeScheme",
    "DataConsumerScheme",
    "DataProviderScheme",
    "Dataflow",
    "Hierarchy",
    "HierarchyAssociation",
    "MetadataProviderScheme",
    "MetadataProvisionAgreement",
    "MetadataStructure",
    "Metadataflow",
    "NamePersonalisationScheme",
    "ProvisionAgreement",
    "RulesetScheme",
    "TransformationScheme",
    "UserDefinedOperatorScheme",
    "ValueList",
]
