"""Checks of attributes above the observation: each must be given in its series, group or data set, with one value.

Source: SDMX 2.1/3.x Section 2, "Attribute relationship".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from kafka_replica.data.validation.components import DescribedComponent, needs_its_measures
from kafka_replica.data.validation.conditions import Condition, every
from kafka_replica.data.validation.model import LevelCheck
from kafka_replica.sdmx import Attribute, DataStructure


def level_checks(
    structure: DataStructure,
    components: Sequence[DescribedComponent],
    severities: Mapping[str, str],
    counted: Condition,
    complete: Condition,
    note_unchecked: Callable[[str], None],
) -> Iterator[LevelCheck]:
    """Yield the checks of all attributes above the observation.

    Args:
        structure: the data structure.
        components: its components.
        severities: the severity of each rule that is on.
        counted: the condition for rows that are compared.
        complete: the condition for rows that must be complete.
        note_unchecked: called with a message for each requirement that cannot be checked.
    """
    order = {component.column.id: number for number, component in enumerate(components)}
    series = tuple(
        component.column.id
        for component in components
        if component.column.kind == "dimension" and not component.column.is_time
    )
    for component in components:
        if not isinstance(component.component, Attribute) or component.component.relationship.kind == "observation":
            continue
        unknown = _unknown(structure, component.component)
        if unknown:
            note_unchecked(
                f"{component.column.id}: consistency and presence, because it is attached to {', '.join(unknown)}"
            )
            continue
        level = level_of(structure, component.component, order)
        nowhere, where = _places(level, series)
        if component.component.mandatory and "attribute-missing" in severities:
            needs = every(complete, *needs_its_measures(component.column, (one.column for one in components)))
            yield LevelCheck(
                "attribute-missing", severities["attribute-missing"], component.column.id, level, "given", needs,
                f"attribute {component.column.id} is mandatory, but has no value in {nowhere}", str(structure.urn),
            )  # fmt: skip
        if "attribute-differs" in severities:
            yield LevelCheck(
                "attribute-differs", severities["attribute-differs"], component.column.id, level, "same", counted,
                f"attribute {component.column.id} has more than one value in {where}", str(structure.urn),
            )  # fmt: skip


def _places(level: tuple[str, ...], series: tuple[str, ...]) -> tuple[str, str]:
    """Return texts for the rows that share an attribute's value: for no value, and for several values in them."""
    if not level or level == series:
        place = "its series" if level else "the data set"
        return place, place
    same = f"with the same {', '.join(level)}"
    return f"any row {same}", f"rows {same}"


def _unknown(structure: DataStructure, attribute: Attribute) -> list[str]:
    """Return the names in an attribute's relationship that do not resolve to dimensions.

    These are missing groups, groups of an attachment constraint (2.1), and components that are not dimensions.
    """
    relationship = attribute.relationship
    used = relationship.groups if relationship.kind == "group" else ()
    groups = {id_: structure.groups.get(id_) for id_ in used}
    names = [f"group {id_}" for id_, group in groups.items() if group is None or not group.dimensions]
    known = {component.id for component in structure.components}
    return [*names, *(f"dimension {id_}" for id_ in relationship.dimensions if id_ not in known)]


def level_of(structure: DataStructure, attribute: Attribute, order: Mapping[str, int]) -> tuple[str, ...]:
    """Return the dimensions that an attribute is attached to, in the order of the structure; empty for the data set."""
    relationship = attribute.relationship
    found = set(relationship.dimensions)
    if relationship.kind == "group":
        for id_ in relationship.groups:
            group = structure.groups.get(id_)
            found |= set(group.dimensions if group is not None else ())
    return tuple(sorted((one for one in found if one in order), key=order.__getitem__))
