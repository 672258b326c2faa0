"""The names of the complex types of a schema of data."""

from __future__ import annotations

from typing import Final, Literal

from kafka_replica.data.schemas.explicit_measures import measure_ids
from kafka_replica.sdmx import ResolvedStructure

FIXED_NAMES: Final = ("DataSetType", "SeriesType", "ObsType", "GroupType", "AttsType")
"""The names of the types of the parts of a data set."""


def comp_name(id_: str, kind: Literal["MEASURE", "ATTRIBUTE"]) -> str:
    """Return the name of the type of the elements Comp of a component (3.x)."""
    return f"{id_}_{kind}"


def possible_names(resolved: ResolvedStructure) -> frozenset[str]:
    """Return the names that complex types of the structure's data can have."""
    ids = (*resolved.components, *resolved.metadata_attributes)
    comps = {name for id_ in ids for name in (comp_name(id_, "MEASURE"), comp_name(id_, "ATTRIBUTE"))}
    return frozenset({*resolved.data_structure.groups, *FIXED_NAMES, *comps, *measure_ids(resolved)})
