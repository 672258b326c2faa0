"""A component of a data structure with everything that determines its valid values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, Protocol, TypeAlias

import msgspec

from kafka_replica.sdmx.containers import NO_ITEMS, Items
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
from kafka_replica.sdmx.model.representation import Representation

Enumeration: TypeAlias = Codelist | ValueList | ConceptScheme
"""The list of a component's values; for a measure dimension of 2.1 a concept scheme."""


class AppliesConstraints(Protocol):
    """The constraints on the component's data: ``kafka_replica.sdmx.lookups.constraints``."""

    def allowed_ids(self, component: str, given: Mapping[str, str], as_of: date | None) -> frozenset[str] | None: ...  # noqa: D102


class EffectiveComponent(msgspec.Struct, frozen=True, kw_only=True):
    """A component with everything that determines its valid values.

    Attributes:
        component: the component as written in the data structure.
        concept: its concept; None if the concept is not in this version and not needed.
        representation: its own representation, or its concept's; None: any text.
        enumeration: the list of its values, a codelist with its inherited codes; None if the component is not coded.
        unprefixed: the inherited codes with a prefix, each with its id without the prefix.
        relationship: the relationship of an attribute, or of the usage of a metadata attribute; None for a metadata
            attribute without a usage, which data may carry at any level.
        constraints: the constraints on the component's data.
    """

    component: Component
    concept: Concept | None = None
    representation: Representation | None = None
    enumeration: Enumeration | None = None
    unprefixed: Mapping[str, str] = NO_ITEMS
    relationship: AttributeRelationship | None = None
    constraints: AppliesConstraints | None = None

    def __hash__(self) -> int:
        return hash(self.component.urn)

    def __repr__(self) -> str:
        return f"<EffectiveComponent {self.id}, {self.kind}, {self.values_text()}>"

    def values_text(self) -> str:
        """Return a description of the valid values: codes of a list, or text of a type."""
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
        """Return the ids in the component's list, allowed by constraints or not; None if the component is not coded."""
        match self.enumeration:
            case None:
                return None
            case ValueList() as found:
                return frozenset(value.id for value in found.values)
            case found:
                return frozenset(found.items)

    def allowed_ids(
        self, *, given: Mapping[str, str] | None = None, as_of: date | None = None
    ) -> frozenset[str] | None:
        """Return the ids that a row of data may have here, by the list and by all constraints that apply.

        The constraints are the same as in validation, and are interpreted in the same way: those of the data provider,
        data structure, dataflow and provision agreement, as far as these were resolved. An id is left out if no row can
        have it: each constraint, and the possible values of the other dimensions, are taken into account. Combinations
        that become impossible only through several constraints together may remain.

        Args:
            given: values of other components, by id: ``{"FREQ": "A", "TIME_PERIOD": "2024"}``. The result then has the
                ids that are possible with these values; with a value of the time dimension, the ids valid at that time.
            as_of: the date on which constraints must be valid; today in UTC if None.

        Returns:
            The ids; None if the component is not coded.

        Raises:
            UsageError: ``given`` has a key that is not a component of the structure.
        """
        if self.constraints is None:
            return self.listed_ids()
        return self.constraints.allowed_ids(self.id, given or {}, as_of)

    def selected_ids(self, selections: Iterable[Selection], *, without_prefix: bool = False) -> frozenset[str]:
        """Return the ids that the values of a constraint select; patterns with ``%`` and cascades are expanded.

        A value that is not in the list selects itself. Only codes cascade. Requires a coded component.

        Args:
            selections: the values of the constraint.
            without_prefix: whether values also select inherited codes by their ids without the prefix.
        """
        values = tuple(selections)
        codes: Items[Any] = (
            self.enumeration.codes
            if isinstance(self.enumeration, Codelist)
            else Items(dict.fromkeys(self.listed_ids() or ()))
        )
        plain = {value.value for value in values if "%" not in value.value and value.cascade_values != "excluderoot"}
        return frozenset(selected_codes(values, codes, self.unprefixed if without_prefix else {}) | plain)
