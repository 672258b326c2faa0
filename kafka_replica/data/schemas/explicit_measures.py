"""The observation types of explicit measures (2.1): one for each measure of a measure dimension.

The type of observations is abstract then, and a message names the type of a measure instead of the dimension's value.

Source: SDMX 2.1, SDMXDataStructureSpecificBase.xsd, documentation of ObsType; SDMXCommon.xsd, ``explicitMeasures``; the
standard's sample ``demography_xs_ex.xsd``.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Final

import msgspec

from kafka_replica.data.schemas.schema_document import ANNOTATIONS, attribute, enumerated_ids, fixed_id, restriction
from kafka_replica.data.schemas.simple_types import SimpleTypes, ValueType, name_in_xml
from kafka_replica.data.schemas.xsd_types import is_derived_type
from kafka_replica.sdmx import EffectiveComponent, ResolvedStructure
from kafka_replica.sdmx.model import Code, Codelist, Concept, ConceptScheme
from kafka_replica.sdmx.model.earlier_editions import CrossSectionalMeasure

_IDS: Final = "ObsType.ID"
"""The name of the simple type of the measures' ids."""
_ANY: Final = "xs:anySimpleType"


def measure_dimension(resolved: ResolvedStructure) -> EffectiveComponent | None:
    """Return the measure dimension, whose values are concepts or, in 2.0, codes; None if there is none, as in 3.x."""
    listed = (
        dimension for dimension in resolved.dimensions if isinstance(dimension.enumeration, ConceptScheme | Codelist)
    )
    found = next((one for one in listed if one.component.urn.cls == "MeasureDimension"), None)
    return found if primary_measures(resolved) else None


def measure_ids(resolved: ResolvedStructure) -> frozenset[str]:
    """Return the ids of all measures of the measure dimension."""
    dimension = measure_dimension(resolved)
    return (None if dimension is None else dimension.listed_ids()) or frozenset()


def primary_measures(resolved: ResolvedStructure) -> list[EffectiveComponent]:
    """Return the measures without the cross-sectional ones (2.0), which represent values of the measure dimension."""
    measures = (component for component in resolved.used_components.values() if component.kind == "measure")
    return [measure for measure in measures if not isinstance(measure.component, CrossSectionalMeasure)]


class ExplicitMeasures:
    """The measures that constraints allow, each with the type of its observed values.

    The values have the format of the concept's core representation or, in 2.0, of the cross-sectional measure. If there
    is none, or if a codelist is the core representation, they have the type of the primary measure.

    Args:
        resolved: the structure, with a measure dimension.
        types: the simple types of the schema; those of the measures are added.
        as_of: the date on which constraints must be valid; None means today in UTC.

    Attributes:
        types: the name of the type of the observed values, by the id of the measure, in the order of the list.
    """

    def __init__(self, resolved: ResolvedStructure, types: SimpleTypes, as_of: date | None) -> None:
        dimension, primary = measure_dimension(resolved), primary_measures(resolved)[0]
        listed = None if dimension is None else dimension.enumeration
        items = listed.items.values() if isinstance(listed, ConceptScheme | Codelist) else ()
        allowed = (None if dimension is None else dimension.allowed_ids(as_of=as_of)) or frozenset()
        self._primary, self._bases = types.value_type(primary), types.bases
        self.types: dict[str, str] = {}
        for item in items:
            if item.id in allowed:
                name, own = name_in_xml(item.id, "measure"), _own_measure(item, primary, resolved)
                self.types[name] = types.value_type(own, f"{primary.id}.{name}").type if own else self._primary.type

    @property
    def widest(self) -> ValueType:
        """The primary measure; its values have any type, unless those of all measures restrict its type as required."""
        fits = all(is_derived_type(type_, self._primary.type, self._bases) for type_ in self.types.values())
        return self._primary if fits else self._primary._replace(type=_ANY)

    @staticmethod
    def id_attribute() -> str:
        """Return the declaration of the attribute with the id of the measure, in the abstract type."""
        return attribute("type", _IDS, "optional")

    def definitions(self, *, required: bool) -> Iterator[str]:
        """Yield the type of the ids, and the type of observations of each measure.

        Args:
            required: whether an observation must have a value.
        """
        yield enumerated_ids(_IDS, self.types)
        for id_, type_ in self.types.items():
            value = attribute(self._primary.id, type_, "required" if required else "optional")
            yield restriction(id_, "ObsType", [ANNOTATIONS], [fixed_id("type", _IDS, id_), value])


def _own_measure(
    item: Concept | Code, primary: EffectiveComponent, resolved: ResolvedStructure
) -> EffectiveComponent | None:
    """Return the primary measure with the representation of a measure of its own; None if the measure has none."""
    if isinstance(item, Concept):
        core = item.core_representation
        if core is None or core.enumeration is not None:
            return None
        return msgspec.structs.replace(primary, representation=core, enumeration=None)
    for component in resolved.components.values():
        if isinstance(component.component, CrossSectionalMeasure) and component.component.code == item.id:
            return component
    return None
