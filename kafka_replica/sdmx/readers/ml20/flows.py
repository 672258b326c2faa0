"""Dataflows and metadataflows of SDMX-ML 2.0."""

from __future__ import annotations

from lxml import etree

from kafka_replica.sdmx.earlier import CategorisedDataflow, CategorisedMetadataflow
from kafka_replica.sdmx.formats.ml.reading.parts import first, pick
from kafka_replica.sdmx.formats.ml.reading.values import Child
from kafka_replica.sdmx.model import Dataflow, Metadataflow
from kafka_replica.sdmx.readers.ml20.edition import Source
from kafka_replica.sdmx.readers.ml20.references import category, reference
from kafka_replica.sdmx.readers.ml20.values import maintained
from kafka_replica.sdmx.urn import Urn


def dataflow(urn: Urn, elements: list[etree._Element], source: Source) -> Dataflow:
    """Read a <Dataflow>."""
    base, rest = maintained(elements[0], source)
    used = _structure(urn, rest, source, "KeyFamily")
    categories = _categories(urn, rest, source)
    if categories:
        return CategorisedDataflow(urn=urn, structure_reference=used, categories=categories, **base)
    return Dataflow(urn=urn, structure_reference=used, **base)


def metadataflow(urn: Urn, elements: list[etree._Element], source: Source) -> Metadataflow:
    """Read a <Metadataflow>."""
    base, rest = maintained(elements[0], source)
    used = _structure(urn, rest, source, "MetadataStructure")
    categories = _categories(urn, rest, source)
    if categories:
        return CategorisedMetadataflow(urn=urn, structure_reference=used, categories=categories, **base)
    return Metadataflow(urn=urn, structure_reference=used, **base)


def _structure(urn: Urn, rest: list[Child], source: Source, word: str) -> Urn | None:
    found = first(rest, f"{word}Ref")
    return None if found is None else reference(found, source, word, urn.agency)


def _categories(urn: Urn, rest: list[Child], source: Source) -> tuple[Urn, ...]:
    return tuple(category(element, source, urn.agency) for element in pick(rest, "CategoryRef"))
