"""Hand-written maps, as short as possible, and the resulting rows, for both engines."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import escape

from kafka_replica import Snapshot
from kafka_replica.data.mapping import MapPlan, compile_map
from kafka_replica.sdmx import Structures
from support.rules.structures_by_hand import URN, attribute, dimension, measure, structure, text, time

MAP = f"{URN}structuremapping.StructureMap=T:M(1.0)"


def dsd(id_: str, *components: str) -> str:
    """Return the artefact T:ID(1.0)."""
    return structure(*components).replace('agencyID="T" id="D"', f'agencyID="T" id="{id_}"')


def named(id_: str, names: str, *, attributes: str = "", timed: bool = True, measures: str = "OBS_VALUE") -> str:
    """Return the data structure T:ID(1.0) of text dimensions and attributes by their ids."""
    parts = [dimension(part, text()) for part in names.split()]
    parts += [time()] if timed else []
    parts += [attribute(part) for part in attributes.split()]
    return dsd(id_, *parts, *(measure(part) for part in measures.split()))


def structure_map(*parts: str, source: str = "S", target: str = "G") -> str:
    """Return the structure map T:M(1.0) from T:S(1.0) to T:G(1.0); parts are in any order."""
    order = ("<s:Epo", "<s:Dat", "<s:Fre", "<s:Com", "<s:Fix")
    inner = "".join(sorted(parts, key=lambda part: order.index(part[:6])))
    ends = "".join(
        f"<s:{side}>{URN}datastructure.DataStructure=T:{id_}(1.0)</s:{side}>"
        for side, id_ in (("Source", source), ("Target", target))
    )
    return (
        '<s:StructureMaps><s:StructureMap agencyID="T" id="M" version="1.0"><c:Name>M</c:Name>'
        f"{ends}{inner}</s:StructureMap></s:StructureMaps>"
    )


def component_map(sources: str, targets: str, by: str = "") -> str:
    """Return a component map; ``by`` is the id of its representation map."""
    reference = f"<s:RepresentationMap>{URN}structuremapping.RepresentationMap=T:{by}(1.0)</s:RepresentationMap>"
    return f"<s:ComponentMap>{_ends(sources, targets)}{reference if by else ''}</s:ComponentMap>"


def _ends(sources: str, targets: str) -> str:
    found = "".join(f"<s:Source>{part}</s:Source>" for part in sources.split())
    return found + "".join(f"<s:Target>{part}</s:Target>" for part in targets.split())


def fixed(component: str, *values: str, side: str = "Target") -> str:
    """Return a fixed value."""
    inner = "".join(f"<s:Value>{value}</s:Value>" for value in values)
    return f"<s:FixedValueMap><s:{side}>{component}</s:{side}>{inner}</s:FixedValueMap>"


def representation_map(id_: str, *rows: str, sources: int = 1, targets: int = 1) -> str:
    """T:ID(1.0). A row is ``A,B>X,Y``.

    A source ``/re/`` is an expression, ``0:2=XU`` a substring; ``@2007/2009`` at the end is a validity; ``;`` stands
    for a comma.
    """
    ends = "<s:SourceDataType>String</s:SourceDataType>" * sources
    ends += "<s:TargetDataType>String</s:TargetDataType>" * targets
    return (
        f'<s:RepresentationMaps><s:RepresentationMap agencyID="T" id="{id_}" version="1.0"><c:Name>{id_}</c:Name>'
        f"{ends}{''.join(map(_row, rows))}</s:RepresentationMap></s:RepresentationMaps>"
    )


def _row(row: str) -> str:
    row, _, validity = row.partition("@")
    start, _, end = validity.partition("/")
    dates = f' validFrom="{start}"' * bool(start) + f' validTo="{end}"' * bool(end)
    left, _, right = row.partition(">")
    inner = "".join(_source(part) for part in left.split(","))
    inner += "".join(
        f"<s:TargetValue>{escape(part.replace(';', ','))}</s:TargetValue>" for part in right.split(",") if right
    )
    return f"<s:RepresentationMapping{dates}>{inner}</s:RepresentationMapping>"


def _source(one: str) -> str:
    extra = ""
    if one.startswith("/"):
        one, extra = one[1:-1], ' isRegEx="true"'
    elif "=" in one and one[0].isdigit():
        bounds, _, one = one.partition("=")
        start, _, end = bounds.partition(":")
        extra = f' startIndex="{start}"' + (f' endIndex="{end}"' if end else "")
    return f"<s:SourceValue{extra}>{escape(one.replace(';', ','))}</s:SourceValue>"


def date_map(
    source: str, target: str, pattern: str, frequency: str, *, resolve: str = "", locale: str = "en", formats: str = ""
) -> str:
    """Return a date pattern map; the frequency ``=FREQ`` is that of a dimension."""
    extra = f' resolvePeriod="{resolve}"' if resolve else ""
    return (
        f'<s:DatePatternMap id="D" sourcePattern="{escape(pattern)}" locale="{locale}"{extra}>{_ends(source, target)}'
        f"{_frequency(frequency, formats)}</s:DatePatternMap>"
    )


def epoch_map(source: str, target: str, base: str, unit: str, frequency: str) -> str:
    """Return an epoch map."""
    return (
        f'<s:EpochMap id="E" basePeriod="{base}" epochPeriod="{unit}">{_ends(source, target)}'
        f"{_frequency(frequency, '')}</s:EpochMap>"
    )


def _frequency(frequency: str, formats: str) -> str:
    if not frequency.startswith("="):
        return f"<s:TargetFrequencyID>{frequency}</s:TargetFrequencyID>"
    listed = "".join(f"<s:MappedFrequencies>{part}</s:MappedFrequencies>" for part in formats.split())
    return f"<s:FrequencyDimension>{frequency[1:]}</s:FrequencyDimension>{listed}"


def frequency_format(frequency: str, pattern: str) -> str:
    """Return a frequency format mapping; its id is F and the frequency."""
    return (
        f'<s:FrequencyFormatMapping id="F{frequency}"><s:FrequencyId>{frequency}</s:FrequencyId>'
        f"<s:DatePattern>{escape(pattern)}</s:DatePattern></s:FrequencyFormatMapping>"
    )


def plan_of(snapshot: Snapshot, reference: str = MAP, **settings: Any) -> MapPlan:
    """Return the compiled plan."""
    return compile_map(Structures(snapshot), reference, **settings)
