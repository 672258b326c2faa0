"""Structure sets: artefacts that hold the maps of SDMX 2.1.

Source: SDMX 2.1 Section 2, "Structure Set and Mappings"; SDMXStructureStructureSet.xsd.
"""

from __future__ import annotations

from kafka_replica.sdmx.model.base import Annotation, Maintainable, Nameable
from kafka_replica.sdmx.model.maps import ItemMap
from kafka_replica.sdmx.model.representation import TextFormat
from kafka_replica.sdmx.model.value_object import ValueObject
from kafka_replica.sdmx.urns.urn import Urn


class SchemeMapInSet(Nameable, frozen=True, gc=False, kw_only=True):
    """A map between two item schemes; the class in its URN is the kind of map (CodelistMap, ...).

    In a HybridCodelistMap, source and target may be codelists or hierarchical codelists. ``alias`` is from 2.0.
    """

    source: Urn | None = None
    target: Urn | None = None
    item_maps: tuple[ItemMap, ...] = ()
    alias: str | None = None


class ComponentMapInSet(ValueObject, frozen=True, gc=False, kw_only=True):
    """A map from a component of the source to a component of the target, and the conversion of its values.

    The conversion is one of ``codelist_map`` (the id of a map in the set), ``to_text_format`` with ``to_value_type``
    ("Value", "Name", "Description"), or ``value_mappings`` (source and target values).

    ``source_class`` and ``target_class`` are the classes of the components, for example "DataAttribute"; None if the
    message does not state them (2.0). ``source_list`` and ``target_list`` are the ids of the lists that hold the
    components, None if these are the usual lists of a data structure for the class.
    """

    source: str
    target: str
    source_class: str | None = None
    target_class: str | None = None
    source_list: str | None = None
    target_list: str | None = None
    codelist_map: str | None = None
    to_text_format: TextFormat | None = None
    to_value_type: str | None = None
    value_mappings: tuple[tuple[str, str], ...] = ()
    annotations: tuple[Annotation, ...] = ()


class StructureMapInSet(Nameable, frozen=True, gc=False, kw_only=True):
    """A map between two structures, or two flows."""

    source: Urn | None = None
    target: Urn | None = None
    component_maps: tuple[ComponentMapInSet, ...] = ()
    is_extension: bool = False


class StructureSet(Maintainable, frozen=True, gc=False, kw_only=True):
    """A structure set with all its maps in the order of the message: scheme maps and structure maps."""

    related_structures: tuple[Urn, ...] = ()
    scheme_maps: tuple[SchemeMapInSet, ...] = ()
    structure_maps: tuple[StructureMapInSet, ...] = ()
