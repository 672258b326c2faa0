"""Structures with dates in texts, and two maps to periods, for the experiment on date maps."""

from __future__ import annotations

from typing import Final

from benchmarks.observations.structures import MAINTAINABLE, URN, component_of, snapshot_of_structures, text_of
from kafka_replica import Snapshot

_MAP: Final = f"{URN}structuremapping.StructureMap=B:{{}}(1.0)"
MAPS: Final = {"plain": _MAP.format("PLAIN"), "by_frequency": _MAP.format("BY_FREQUENCY")}
"""Months written as quarters, and as periods of the frequency of each row."""
FREQUENCIES: Final = "ASTQMWDBHIN"
"""The frequencies of rows: all for which the standard has a default format."""


def dates_snapshot() -> Snapshot:
    """Return version 1 of a store that holds the structures and maps."""
    maps = _map("PLAIN", "<s:TargetFrequencyID>Q</s:TargetFrequencyID>")
    maps += _map("BY_FREQUENCY", "<s:FrequencyDimension>FREQ</s:FrequencyDimension>")
    structures = f"{_structure('FROM')}{_structure('TO')}"
    return snapshot_of_structures([
        f"<s:DataStructures>{structures}</s:DataStructures>", f"<s:StructureMaps>{maps}</s:StructureMaps>",
    ])  # fmt: skip


def _structure(id_: str) -> str:
    names = ("FREQ", "WHEN", "A") if id_ == "FROM" else ("FREQ", "A")
    dimensions = "".join(component_of("Dimension", name, text_of("String")) for name in names)
    if id_ == "TO":
        dimensions += component_of("TimeDimension", "TIME_PERIOD", text_of("ObservationalTimePeriod"))
    return (
        f"<s:DataStructure {MAINTAINABLE.format(id_)}<s:DataStructureComponents>"
        f'<s:DimensionList id="DimensionDescriptor">{dimensions}</s:DimensionList>'
        f'<s:MeasureList id="MeasureDescriptor">{component_of("Measure", "OBS_VALUE", text_of("Double"))}'
        "</s:MeasureList></s:DataStructureComponents></s:DataStructure>"
    )


def _map(id_: str, frequency: str) -> str:
    ends = "".join(
        f"<s:{side}>{URN}datastructure.DataStructure=B:{end}(1.0)</s:{side}>"
        for side, end in (("Source", "FROM"), ("Target", "TO"))
    )
    return (
        f"<s:StructureMap {MAINTAINABLE.format(id_)}{ends}"
        '<s:DatePatternMap id="D" sourcePattern="MM-yyyy" locale="en"><s:Source>WHEN</s:Source>'
        f"<s:Target>TIME_PERIOD</s:Target>{frequency}</s:DatePatternMap></s:StructureMap>"
    )
