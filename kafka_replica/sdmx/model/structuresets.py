"""Structure sets: the maps of SDMX 2.1, which stand in one artefact.

Source: SDMX 2.1 Section 2, "Structure Set and Mappings"; SDMXStructureStructureSet.xsd.
"""

from __future__ import annotations

from kafka_replica.sdmx.base import Annotation, Maintainable, Nameable
from kafka_replica.sdmx.model.mappings import ItemMap
from kafka_replica.sdmx.representation import TextFormat
from kafka_replica.sdmx.urn import Urn
from kafka_replica.sdmx.value_object import ValueObject


class SchemeMapInSet(Nameable, frozen=True, gc=False, kw_only=True):
    """A map between two item schemes; which kind says the class in its URN (CodelistMap, ...).

    In a HybridCodelistMap source and target may be codelists or hierarchical ones. ``alias`` is of 2.0.
    """

    source: Urn | None = None
    target: Urn | None = None
    item_maps: tuple[ItemMap, ...] = ()
    alias: str | None = None


class ComponentMapInSet(ValueObject, frozen=True, gc=False, kw_only=True):
    """A component of the source and one of the target, and how its values become others.

    One of: ``codelist_map`` (the id of a map in the set), ``to_text_format`` with ``to_value_type``
    ("Value", "Name", "Description"), or ``value_mappings`` (source and target values).
    """

    source: str
    target: str
    codelist_map: str | None = None
    to_text_format: TextFormat | None = None
    to_value_type: str | None = None
    value_mappings: tuple[tuple[str, str], ...] = ()
    annotations: tuple[Annotation, ...] = ()


class StructureMapInSet(Nameable, frozen=True, gc=False, kw_only=True):
    """A map between two structures, or flows."""

    source: Urn | None = None
    target: Urn | None = None
    component_maps: tuple[ComponentMapInSet, ...] = ()
    is_extension: bool = False


class StructureSet(Maintainable, frozen=True, gc=False, kw_only=True):
    """A structure set: all its maps in the order of the message, those of schemes and those of structures."""

    related_structures: tuple[Urn, ...] = ()
    scheme_maps: tuple[SchemeMapInSet, ...] = ()
    structure_maps: tuple[StructureMapInSet, ...] = ()
