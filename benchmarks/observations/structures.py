"""A data structure of eleven coded dimensions, a second structure with other names, and the map between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from kafka_replica import MemoryStore, Partition, Position, Record, Snapshot
from kafka_replica.sdmx import split_message
from kafka_replica.stores.delta import Delta

SIZES: Final = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000)
"""The number of codes of each dimension."""
STRUCTURE: Final = "urn:sdmx:org.sdmx.infomodel.datastructure.DataStructure=B:FROM(1.0)"
MAP: Final = "urn:sdmx:org.sdmx.infomodel.structuremapping.StructureMap=B:M(1.0)"

URN: Final = "urn:sdmx:org.sdmx.infomodel."
_NAMESPACES: Final = " ".join(
    f'xmlns:{prefix}="http://www.sdmx.org/resources/sdmxml/schemas/v3_0/{name}"'
    for prefix, name in (("m", "message"), ("s", "structure"), ("c", "common"))
)
MAINTAINABLE: Final = 'agencyID="B" id="{}" version="1.0"><c:Name>x</c:Name>'


def code_of(number: int) -> str:
    """Return the code with this number, which is the same in all lists."""
    return f"C{number:05}"


def snapshot_of(sizes: Sequence[int]) -> Snapshot:
    """Return version 1 of a store that holds the structures."""
    contents = [*(_codelist(place, size) for place, size in enumerate(sizes)), _structures(len(sizes))]
    contents += [_representation_map(place, size) for place, size in enumerate(sizes)]
    contents.append(_structure_map(len(sizes)))
    return snapshot_of_structures(contents)


def snapshot_of_structures(contents: Iterable[str]) -> Snapshot:
    """Return version 1 of a store that holds structures, which are parts of SDMX-ML 3.0."""
    source = Partition("structures", 0)
    parts = [part for content in contents for part in split_message(_message(content))]
    records = [
        Record(bytes(part.urn), part.value, offset, -1, (("content-type", part.content_type.encode()),), source)
        for offset, part in enumerate(parts)
    ]
    store = MemoryStore()
    store.apply(Delta(records), Position({source: len(records)}))
    return store.snapshot()


def _message(content: str) -> bytes:
    return (
        f"<m:Structure {_NAMESPACES}><m:Header><m:ID>B</m:ID><m:Test>true</m:Test>"
        '<m:Prepared>2026-01-01T00:00:00Z</m:Prepared><m:Sender id="B"/></m:Header>'
        f"<m:Structures>{content}</m:Structures></m:Structure>"
    ).encode()


def _codelist(place: int, size: int) -> str:
    codes = "".join(f'<s:Code id="{code_of(number)}"><c:Name>x</c:Name></s:Code>' for number in range(size))
    return f"<s:Codelists><s:Codelist {MAINTAINABLE.format(f'CL{place}')}{codes}</s:Codelist></s:Codelists>"


def component_of(kind: str, id_: str, representation: str, more: str = "") -> str:
    """Return a component of a data structure."""
    return (
        f'<s:{kind} id="{id_}"><s:ConceptIdentity>{URN}conceptscheme.Concept=B:CS(1.0).{id_}</s:ConceptIdentity>'
        f"<s:LocalRepresentation>{representation}</s:LocalRepresentation>{more}</s:{kind}>"
    )


def _coded(place: int) -> str:
    return f"<s:Enumeration>{URN}codelist.Codelist=B:CL{place}(1.0)</s:Enumeration>"


def text_of(kind: str) -> str:
    """Return the representation of texts of this type."""
    return f'<s:TextFormat textType="{kind}"/>'


def _structures(dimensions: int) -> str:
    return (
        f"<s:DataStructures>{_structure('FROM', 'D', dimensions)}{_structure('TO', 'T', dimensions)}</s:DataStructures>"
    )


def _structure(id_: str, letter: str, dimensions: int) -> str:
    # The target's codes are plain texts: its codes are not part of the measurement.
    coded = (
        component_of("Dimension", f"{letter}{place}", _coded(place) if letter == "D" else text_of("String"))
        for place in range(dimensions)
    )
    time = component_of("TimeDimension", "TIME_PERIOD", text_of("ObservationalTimePeriod"))
    status = component_of(
        "Attribute", "OBS_STATUS", _coded(0) if letter == "D" else text_of("String"),
        "<s:AttributeRelationship><s:Observation/></s:AttributeRelationship>",
    )  # fmt: skip
    measure = component_of("Measure", "OBS_VALUE", text_of("Double"))
    return (
        f"<s:DataStructure {MAINTAINABLE.format(id_)}<s:DataStructureComponents>"
        f'<s:DimensionList id="DimensionDescriptor">{"".join(coded)}{time}</s:DimensionList>'
        f'<s:AttributeList id="AttributeDescriptor">{status}</s:AttributeList>'
        f'<s:MeasureList id="MeasureDescriptor">{measure}</s:MeasureList>'
        "</s:DataStructureComponents></s:DataStructure>"
    )


def _representation_map(place: int, size: int) -> str:
    kinds = "<s:SourceDataType>String</s:SourceDataType><s:TargetDataType>String</s:TargetDataType>"
    rows = "".join(
        f"<s:RepresentationMapping><s:SourceValue>{code_of(number)}</s:SourceValue>"
        f"<s:TargetValue>X{number}</s:TargetValue></s:RepresentationMapping>"
        for number in range(size)
    )
    return (
        f"<s:RepresentationMaps><s:RepresentationMap {MAINTAINABLE.format(f'R{place}')}{kinds}{rows}"
        "</s:RepresentationMap></s:RepresentationMaps>"
    )


def _structure_map(dimensions: int) -> str:
    maps = "".join(
        f"<s:ComponentMap><s:Source>D{place}</s:Source><s:Target>T{place}</s:Target><s:RepresentationMap>"
        f"{URN}structuremapping.RepresentationMap=B:R{place}(1.0)</s:RepresentationMap></s:ComponentMap>"
        for place in range(dimensions)
    )
    ends = "".join(
        f"<s:{side}>{URN}datastructure.DataStructure=B:{id_}(1.0)</s:{side}>"
        for side, id_ in (("Source", "FROM"), ("Target", "TO"))
    )
    copies = "".join(
        f"<s:ComponentMap><s:Source>{one}</s:Source><s:Target>{one}</s:Target></s:ComponentMap>" for one in _COPIED
    )
    return (
        f"<s:StructureMaps><s:StructureMap {MAINTAINABLE.format('M')}{ends}{maps}{copies}"
        "</s:StructureMap></s:StructureMaps>"
    )


_COPIED: Final[Iterable[str]] = ("TIME_PERIOD", "OBS_STATUS", "OBS_VALUE")
