"""Concept schemes. Source: SDMX 3.1 Section 2, "Concept Scheme"; SDMXStructureConcept.xsd."""

from __future__ import annotations

from typing import ClassVar

from kafka_replica.sdmx.containers import Items
from kafka_replica.sdmx.model.base import ItemScheme, Nameable
from kafka_replica.sdmx.model.representation import ItemReference, Representation


class Concept(Nameable, frozen=True, gc=False, kw_only=True):
    """A concept; ``parent`` is the id of another concept of the scheme."""

    parent: str | None = None
    core_representation: Representation | None = None
    iso_concept: ItemReference | None = None


class ConceptScheme(ItemScheme, frozen=True, gc=False, kw_only=True):
    """A concept scheme: its concepts by id, in the order of the message."""

    items_field: ClassVar[str] = "concepts"

    concepts: Items[Concept]
