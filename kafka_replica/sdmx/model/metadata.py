"""Metadata structures and metadataflows.

Source: SDMX 3.1 Section 2, "Metadata Structure Definition and Metadataflow"; for targets and report
structures SDMX 2.1 Section 2, "Metadata Structure Definition".
"""

from __future__ import annotations

from kafka_replica.sdmx.containers import NO_ITEMS, Items, stub_error
from kafka_replica.sdmx.model.base import Identifiable, Maintainable
from kafka_replica.sdmx.model.data_structures import Component
from kafka_replica.sdmx.model.representation import Occurs, Representation
from kafka_replica.sdmx.urns.urn import Urn


class MetadataAttribute(Component, frozen=True, gc=False, kw_only=True):
    """A metadata attribute and those below it; its URN has the whole path. None for occurrences means 1."""

    min_occurs: int | None = None
    max_occurs: Occurs | None = None
    is_presentational: bool = False
    metadata_attributes: Items[MetadataAttribute] = NO_ITEMS


class TargetObject(Identifiable, frozen=True, gc=False, kw_only=True):
    """A part of a metadata target (2.1); the class in its URN is its kind.

    ``object_type`` is the class that an IdentifiableObjectTarget refers to, for example "Dataflow".
    """

    representation: Representation | None = None
    object_type: str | None = None


class MetadataTarget(Identifiable, frozen=True, gc=False, kw_only=True):
    """A kind of object that metadata can be attached to (2.1)."""

    target_objects: Items[TargetObject] = NO_ITEMS


class ReportStructure(Identifiable, frozen=True, gc=False, kw_only=True):
    """A report structure (2.1): its attributes, and the ids of its metadata targets."""

    metadata_attributes: Items[MetadataAttribute] = NO_ITEMS
    metadata_targets: tuple[str, ...] = ()


class MetadataStructure(Maintainable, frozen=True, gc=False, kw_only=True):
    """A metadata structure: attributes of the first level by id (3.x), or targets and reports (2.1).

    ``descriptors`` holds the MetadataAttributeDescriptor if it carries annotations or links.
    """

    metadata_attributes: Items[MetadataAttribute]
    metadata_targets: Items[MetadataTarget] = NO_ITEMS
    report_structures: Items[ReportStructure] = NO_ITEMS
    descriptors: tuple[Identifiable, ...] = ()


class Metadataflow(Maintainable, frozen=True, gc=False, kw_only=True):
    """A metadataflow; ``targets`` (3.x) are URNs that may contain wildcards, as written."""

    structure_reference: Urn | None = None
    targets: tuple[str, ...] = ()

    @property
    def structure(self) -> Urn | None:
        """The metadata structure of the flow, or None. Raises UnreadableContentError for a stub."""
        if self.is_stub:
            raise stub_error(self.urn)
        return self.structure_reference
