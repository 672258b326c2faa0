"""Hand-made versions, and a data structure with one component for each rule."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from kafka_replica import MemoryStore, Partition, Position, Record, Snapshot
from kafka_replica.sdmx import split_message
from kafka_replica.sdmx.samples import sample_files
from kafka_replica.stores.delta import Delta

SOURCE = Partition("structures", 0)
RULES = "urn:sdmx:org.sdmx.infomodel.datastructure.DataStructure=T:RULES(1.0)"
_NAMESPACES = " ".join(
    f'xmlns:{prefix}="http://www.sdmx.org/resources/sdmxml/schemas/v3_0/{name}"'
    for prefix, name in (("m", "message"), ("s", "structure"), ("c", "common"))
)
_CODELIST = "urn:sdmx:org.sdmx.infomodel.codelist.Codelist="


def apply(store: MemoryStore, records: Iterable[Record], offset: int) -> Snapshot:
    """Apply the next version of the store, with that offset as its position."""
    store.apply(Delta(list(records)), Position({SOURCE: offset}))
    return store.snapshot()


def records_of(*messages: bytes, offset: int = 0) -> list[Record]:
    """Return one record per artefact."""
    parts = [part for message in messages for part in split_message(message)]
    return [
        Record(bytes(part.urn), part.value, offset + i, -1, (("content-type", part.content_type.encode()),), SOURCE)
        for i, part in enumerate(parts)
    ]


def version_of(*messages: bytes) -> Snapshot:
    """Return version 1 of a store with these messages."""
    records = records_of(*messages)
    return apply(MemoryStore(), records, len(records))


def samples() -> Snapshot:
    """Return version 1 with the samples."""
    return version_of(*[path.read_bytes() for path in sample_files()])


def message(content: str) -> bytes:
    """Return a structure message of SDMX-ML 3.0."""
    return (
        f"<m:Structure {_NAMESPACES}><m:Header><m:ID>T</m:ID><m:Test>true</m:Test>"
        '<m:Prepared>2026-01-01T00:00:00Z</m:Prepared><m:Sender id="T"/></m:Header>'
        f"<m:Structures>{content}</m:Structures></m:Structure>"
    ).encode()


def codelist(id_: str, codes: Iterable[str], more: str = "") -> str:
    """Return a codelist T:ID(1.0)."""
    items = "".join(f'<s:Code id="{code}"><c:Name>{code} in words</c:Name></s:Code>' for code in codes)
    return (
        f'<s:Codelists><s:Codelist agencyID="T" id="{id_}" version="1.0"><c:Name>{id_}</c:Name>{items}{more}'
        "</s:Codelist></s:Codelists>"
    )


def coded(reference: str) -> str:
    """Return a representation by a codelist."""
    return f"<s:Enumeration>{_CODELIST}{reference}</s:Enumeration>"


def format_(text_type: str = "", **facets: object) -> str:
    """Return a representation by a text format."""
    given = {"textType": text_type, **facets} if text_type else facets
    written = " ".join(f'{name}="{value}"' for name, value in given.items())
    return f"<s:TextFormat {written}/>"


def component(kind: str, id_: str, representation: str = "", more: str = "", attributes: str = "") -> str:
    """Return a component; its concept has the same id."""
    local = f"<s:LocalRepresentation>{representation}</s:LocalRepresentation>" if representation else ""
    concept = f"urn:sdmx:org.sdmx.infomodel.conceptscheme.Concept=T:CS(1.0).{id_}"
    return f'<s:{kind} id="{id_}" {attributes}><s:ConceptIdentity>{concept}</s:ConceptIdentity>{local}{more}</s:{kind}>'


def attribute(id_: str, representation: str = "", to: str = "<s:Observation/>", usage: str = "optional") -> str:
    """Return an attribute, by default of each observation."""
    more = f"<s:AttributeRelationship>{to}</s:AttributeRelationship>"
    return component("Attribute", id_, representation, more, f'usage="{usage}"')


def structure(id_: str, dimensions: str, attributes: str = "", measures: str = "") -> str:
    """Return a data structure T:ID(1.0)."""
    return (
        f'<s:DataStructures><s:DataStructure agencyID="T" id="{id_}" version="1.0"><c:Name>{id_}</c:Name>'
        f'<s:DataStructureComponents><s:DimensionList id="DimensionDescriptor">{dimensions}</s:DimensionList>'
        f'<s:AttributeList id="AttributeDescriptor">{attributes}</s:AttributeList>'
        f'<s:MeasureList id="MeasureDescriptor">{measures}</s:MeasureList>'
        "</s:DataStructureComponents></s:DataStructure></s:DataStructures>"
    )


def concepts(*with_core: tuple[str, str], ids: Iterable[str] = ()) -> str:
    """Return the concept scheme T:CS(1.0)."""
    items = [(id_, "") for id_ in ids]
    items += [(id_, f"<s:CoreRepresentation>{core}</s:CoreRepresentation>") for id_, core in with_core]
    body = "".join(f'<s:Concept id="{id_}"><c:Name>{id_}</c:Name>{core}</s:Concept>' for id_, core in items)
    return (
        '<s:ConceptSchemes><s:ConceptScheme agencyID="T" id="CS" version="1.0"><c:Name>CS</c:Name>'
        f"{body}</s:ConceptScheme></s:ConceptSchemes>"
    )


VALUES = ("¥", "a,b", "x|y", "EUR")
FORMATS = {
    "INTEGER": format_("Integer"),
    "LONG": format_("Long"),
    "SHORT": format_("Short"),
    "BIG": format_("BigInteger"),
    "DECIMAL": format_("Decimal"),
    "DOUBLE": format_("Double"),
    "BOOLEAN": format_("Boolean"),
    "SHARE": format_("Decimal", minValue="0", maxValue="100"),
    "OPEN": format_("ExclusiveValueRange", minValue="0", maxValue="1"),
    "LENGTH": format_("String", minLength=2, maxLength=4),
    "PATTERN": format_("String", pattern="[A-Z]{2}\\d"),
    "XML_NAME": format_("String", pattern="\\i\\c*"),
    "BROKEN": format_("String", pattern="[A"),
    "DIGITS": format_("Decimal", decimals=2),
    "YEAR": format_("GregorianYear"),
    "DAY": format_("GregorianDay"),
    "HTML": format_("XHTML"),
    "SENTINEL": (
        '<s:TextFormat textType="Integer" minValue="0"><s:SentinelValue value="-9"><c:Name>none</c:Name>'
        "</s:SentinelValue></s:TextFormat>"
    ),
}
_VALUE_LIST = (
    '<s:ValueLists><s:ValueList agencyID="T" id="VL" version="1.0"><c:Name>VL</c:Name>'
    + "".join(f'<s:ValueItem id="{value}"><c:Name>{value}</c:Name></s:ValueItem>' for value in VALUES)
    + "</s:ValueList></s:ValueLists>"
)
RULES_MESSAGE = message(
    codelist("CL_FREQ", ["A", "Q", "M"])
    + codelist("CL_AREA", [f"R{number:04}" for number in range(2000)])
    + _VALUE_LIST
    + concepts(
        ("AREA", coded("T:CL_AREA(1.0)")),
        ("STATUS", coded("T:CL_FREQ(1.0)")),
        ids=["FREQ", "TIME_PERIOD", "UNIT", "FLAG", "TAGS", "OBS_VALUE", "COUNT", *FORMATS],
    )
    + structure(
        "RULES",
        component("Dimension", "FREQ", coded("T:CL_FREQ(1.0)"))
        + component("Dimension", "AREA")
        + component("TimeDimension", "TIME_PERIOD", format_("ObservationalTimePeriod")),
        attribute("STATUS", usage="mandatory")
        + attribute("UNIT", "<s:Enumeration>urn:sdmx:org.sdmx.infomodel.codelist.ValueList=T:VL(1.0)</s:Enumeration>")
        + attribute("FLAG", coded("T:CL_FREQ(1.0)"), "<s:Dimension>AREA</s:Dimension>", "mandatory")
        + component(
            "Attribute", "TAGS", "", "<s:AttributeRelationship><s:Observation/></s:AttributeRelationship>"
        ).replace(
            "<s:AttributeRelationship>",
            f'<s:LocalRepresentation maxOccurs="unbounded">{coded("T:CL_FREQ(1.0)")}</s:LocalRepresentation>'
            "<s:AttributeRelationship>",
        )
        + "".join(attribute(id_, facets) for id_, facets in FORMATS.items()),
        component("Measure", "OBS_VALUE", format_("Double"))
        + component("Measure", "COUNT", format_("Count"), attributes='usage="mandatory"'),
    )
)
GOOD = {"FREQ": "A", "AREA": "R0001", "TIME_PERIOD": "2020", "STATUS": "A", "FLAG": "A", "COUNT": "1"}


def frame(spark: SparkSession, rows: list[dict[str, Any]], **types: pa.DataType) -> DataFrame:
    """Return a frame of text columns, unless ``types`` gives others."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: pa.array([row.get(name) for row in rows], types.get(name, pa.string())) for name in names}
    return spark.createDataFrame(pa.table(columns))


def varied(spark: SparkSession, name: str, values: Iterable[object], kind: pa.DataType | None = None) -> DataFrame:
    """Return valid rows of RULES in which one column has these values."""
    return frame(spark, [GOOD | {name: value} for value in values], **({name: kind} if kind else {}))
