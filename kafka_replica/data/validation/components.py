"""The properties of components for validation: column, format of values, and number of values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final, Literal, NamedTuple

from kafka_replica.data.validation.conditions import ComponentText, Condition, In, IsNull, Not, some
from kafka_replica.data.validation.example_values import example_values
from kafka_replica.data.validation.model import Column
from kafka_replica.sdmx import (
    Attribute,
    Component,
    Dimension,
    EffectiveComponent,
    Measure,
    Representation,
    TextFormat,
)
from kafka_replica.sdmx.model.earlier_editions import CrossSectionalMeasure
from kafka_replica.sdmx.values.text_types import FLOATING, NOT_A_NUMBER, NOT_AVAILABLE, TIME_TYPES

_FREQ: Final = "FREQ"


class DescribedComponent(NamedTuple):
    """A resolved component with its column and the format of its values; enumerated components have codes."""

    effective: EffectiveComponent
    column: Column
    format: TextFormat
    min_occurs: int | None
    max_occurs: int | None

    @property
    def component(self) -> Component:
        """Return the component as the data structure defines it."""
        return self.effective.component

    @property
    def marks(self) -> frozenset[str]:
        """Return the values that are marks, such as the mark for a missing value; rules on values ignore them."""
        found = {sentinel_value.value for sentinel_value in self.format.sentinel_values}
        if self.column.kind != "dimension":
            is_floating = self.column.enumeration is None and self.column.text_type in FLOATING
            found.add(NOT_A_NUMBER if is_floating else NOT_AVAILABLE)
        return frozenset(found)


def describe_component(effective: EffectiveComponent) -> DescribedComponent:
    """Return the properties of a component for validation."""
    representation = effective.representation or Representation()
    format_ = representation.format or TextFormat()
    most = None if representation.max_occurs == "unbounded" else representation.max_occurs or 1
    column = _column(effective, format_, repeated=most is None or most > 1)
    return DescribedComponent(effective, column, format_, representation.min_occurs, most)


def _column(effective: EffectiveComponent, format_: TextFormat, *, repeated: bool) -> Column:
    component, listed = effective.component, effective.listed_ids()
    kind: Literal["dimension", "attribute", "measure"] = "measure"
    is_time = isinstance(component, Dimension) and component.is_time
    needed = required = isinstance(component, Measure) and component.mandatory
    if isinstance(component, Dimension):
        kind, needed, required = "dimension", True, True
    elif isinstance(component, Attribute):
        # An attribute of a group, of dimensions or of the data set may be given in another row.
        kind, needed = "attribute", component.mandatory
        required = component.mandatory and component.relationship.kind == "observation"
    text_type = (format_.text_type if listed is None else None) or "String"
    if is_time and text_type not in TIME_TYPES:
        text_type = "ObservationalTimePeriod"  # the only type that the standard allows here
    return Column(
        id=component.id,
        kind=kind,
        is_time=is_time,
        is_frequency=not is_time and _is_frequency(component),
        is_required=required,
        must_exist=needed,
        is_multi_valued=repeated,
        is_multi_lingual=kind != "dimension" and listed is None and _may_be_in_languages(format_),
        enumeration=None if effective.enumeration is None else effective.enumeration.urn,
        values=listed or frozenset(),
        text_type=text_type,
        examples=() if listed is not None else example_values(text_type, format_),
        measures=component.relationship.measures if isinstance(component, Attribute) else (),
        concept=None if component.concept is None else component.concept.item,
        measured=(component.measure_dimension, component.code)
        if isinstance(component, CrossSectionalMeasure)
        else None,
    )


def needs_its_measures(column: Column, columns: Iterable[Column]) -> Iterator[Condition]:
    """Yield the condition under which a row may need an attribute that describes certain measures.

    The row need not have it if it has other measures, but none of these. A cross-sectional measure of 2.0 is a code of
    the measure dimension, and a row with this code has the value of the measure in the primary measure.

    Source: SDMX 2.0, SDMXStructure.xsd, ``AttributeType`` and ``CrossSectionalMeasureType``.
    """
    columns = [*columns]
    dimensions = {one.id for one in columns if one.kind == "dimension"}
    measures = [one for one in columns if one.kind == "measure"]
    own = [one for one in measures if one.id in column.measures]
    others = [one for one in measures if one.id not in column.measures]
    if not (own and others):
        return
    # With its code, a row without a value is known not to have other cross-sectional measures. It may lack the primary.
    of_others = dimensions if all(one.measured is not None for one in own) else ()
    yield some(*_are_given(own, dimensions), Not(some(*_are_given(others, of_others))))


def _are_given(measures: Iterable[Column], dimensions: Collection[str]) -> Iterator[Condition]:
    """Yield conditions of which one is true if a row has a measure: a value, or its code in one of these dimensions."""
    codes: dict[str, set[str]] = {}
    for measure in measures:
        yield Not(IsNull(measure.id))
        dimension, code = measure.measured or ("", "")
        if dimension in dimensions and code:
            codes.setdefault(dimension, set()).add(code)
    for dimension, values in codes.items():
        yield In(ComponentText(dimension), frozenset(values))


def _is_frequency(component: Component) -> bool:
    """Return whether a component is the dimension of the frequency, by its id or by its role."""
    if not isinstance(component, Dimension):
        return False
    return component.id == _FREQ or any(role.item == _FREQ for role in component.concept_roles)


def _may_be_in_languages(format_: TextFormat) -> bool:
    """Return whether values may be in several languages.

    If a text's format does not specify this, the default is yes in 2.1 and 3.0, and no in 3.1. A model does not contain
    its edition of the standard, so several languages are allowed.
    """
    if format_.is_multi_lingual is None:
        return (format_.text_type or "String") in {"String", "XHTML"}
    return format_.is_multi_lingual
