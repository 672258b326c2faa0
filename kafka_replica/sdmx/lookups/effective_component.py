"""A component of a data structure with all that its values are judged by.

Source: SDMX 3.1 Section 2, "Representation"; Section 6, "Constraints".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, Protocol, TypeAlias

import msgspec

from kafka_replica.sdmx.containers import Items
from kafka_replica.sdmx.lookups.code_selection import Selection, selected_codes
from kafka_replica.sdmx.model import (
    Attribute,
    AttributeRelationship,
    Codelist,
    Component,
    Concept,
    ConceptScheme,
    Dimension,
    MetadataAttribute,
    ValueList,
)
from kafka_replica.sdmx.representation import Representation

Enumeration: TypeAlias = Codelist | ValueList | ConceptScheme
"""What lists the values of a component; a concept scheme is the list of a measure dimension of 2.1."""


class AppliesConstraints(Protocol):
    """The constraints on the data that a component stands in: ``kafka_replica.sdmx.lookups.constraints``."""

    def allowed_ids(self, component: str, given: Mapping[str, str], as_of: date | None) -> frozenset[str] | None: ...  # noqa: D102


class EffectiveComponent(msgspec.Struct, frozen=True, kw_only=True):
    """A component with all that its values are judged by.

    Attributes:
        component: the component as the data structure has it.
        concept: its concept; None where it is not in this version and not needed.
        representation: its own representation, or its concept's; None: any text.
        enumeration: the list of its values, a codelist with what it extends; None where it is not coded.
        unprefixed: the codes that the list has by extension with a prefix, each with what it is without.
        relationship: that of an attribute, or of the usage of a metadata attribute.
        constraints: the constraints on the data that the component stands in.
    """

    component: Component
    concept: Concept | None = None
    representation: Representation | None = None
    enumeration: Enumeration | None = None
    unprefixed: Mapping[str, str] = {}
    relationship: AttributeRelationship | None = None
    constraints: AppliesConstraints | None = None

    def __repr__(self) -> str:
        return f"<EffectiveComponent {self.id}, {self.kind}, {self.values_text()}>"

    def values_text(self) -> str:
        """Return in words what its values are: codes of a list, or text of a type."""
        if self.enumeration is not None:
            return f"coded by {self.enumeration.urn.reference}"
        format_ = None if self.representation is None else self.representation.format
        return (format_.text_type if format_ is not None else None) or "String"

    @property
    def id(self) -> str:
        """The id of the component."""
        return self.component.id

    @property
    def kind(self) -> str:
        """``dimension``, ``measure``, ``attribute`` or ``metadata attribute``."""
        if isinstance(self.component, Dimension):
            return "dimension"
        if isinstance(self.component, MetadataAttribute):
            return "metadata attribute"
        return "attribute" if isinstance(self.component, Attribute) else "measure"

    def listed_ids(self) -> frozenset[str] | None:
        """Return the ids in its list, allowed by constraints or not; None where it is not coded."""
        match self.enumeration:
            case None:
                return None
            case ValueList() as found:
                return frozenset(one.id for one in found.values)
            case found:
                return frozenset(found.items)

    def allowed_ids(
        self, *, given: Mapping[str, str] | None = None, as_of: date | None = None
    ) -> frozenset[str] | None:
        """Return the ids that a row of data may have here, by its list and by all constraints that apply.

        The constraints are those that validation applies, read in the same way: of the data provider, data structure,
        dataflow and provision agreement, as far as these were resolved. An id is left out where no row can have it:
        each constraint, and what the other dimensions can be, are taken into account. Combinations that only several
        constraints together make impossible may stay in.

        Args:
            given: values of other components, by id: ``{"FREQ": "A", "TIME_PERIOD": "2024"}``. Then the ids are those
                that go with them; with a value of the time dimension, those that are valid at that time.
            as_of: the date on which constraints must be valid; today in UTC if None.

        Returns:
            The ids; None where the component is not coded.

        Raises:
            UsageError: ``given`` names what is no component of the structure.
        """
        if self.constraints is None:
            return self.listed_ids()
        return self.constraints.allowed_ids(self.id, given or {}, as_of)

    def selected_ids(self, selections: Iterable[Selection]) -> frozenset[str]:
        """Return the ids that the values of a constraint mean: patterns with ``%`` and cascades are followed.

        A value that is not in the list means itself. Only codes cascade. For a component that is coded.
        """
        values = tuple(selections)
        codes: Items[Any] = (
            self.enumeration.codes
            if isinstance(self.enumeration, Codelist)
            else Items(dict.fromkeys(self.listed_ids() or ()))
        )
        plain = {one.value for one in values if "%" not in one.value and one.cascade_values != "excluderoot"}
        return frozenset(selected_codes(values, codes) | plain)
