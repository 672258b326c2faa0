"""Hand-written structures, as short as possible, and the findings of validation, for both engines."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import polars as pl

from kafka_replica import MemoryStore, Partition, Position, Record, Snapshot
from kafka_replica.data.validation import Rules, compile_rules
from kafka_replica.sdmx import Structures, split_message
from kafka_replica.stores.delta import Delta

NAMESPACES = " ".join(
    f'xmlns:{prefix}="http://www.sdmx.org/resources/sdmxml/schemas/v3_0/{name}"'
    for prefix, name in (("m", "message"), ("s", "structure"), ("c", "common"))
)
URN = "urn:sdmx:org.sdmx.infomodel."
DSD = f"{URN}datastructure.DataStructure=T:D(1.0)"
FLOW = f"{URN}datastructure.Dataflow=T:F(1.0)"
AGREEMENT = f"{URN}registry.ProvisionAgreement=T:PA(1.0)"
PROVIDER = f"{URN}base.DataProvider=T:DATA_PROVIDERS(1.0).P"


def version_of(*contents: str, unreadable: Collection[str] = ()) -> Snapshot:
    """Return version 1 of a store with these artefacts; the records of ids in ``unreadable`` cannot be read."""
    source = Partition("structures", 0)
    parts = [part for content in contents for part in split_message(message(content))]
    store = MemoryStore()
    values = [b"<broken" if part.urn.id in unreadable else part.value for part in parts]
    records = [
        Record(bytes(part.urn), values[i], i, -1, (("content-type", part.content_type.encode()),), source)
        for i, part in enumerate(parts)
    ]
    store.apply(Delta(records), Position({source: len(records)}))
    return store.snapshot()


def message(content: str) -> bytes:
    """Return a structure message of SDMX-ML 3.0."""
    return (
        f"<m:Structure {NAMESPACES}><m:Header><m:ID>T</m:ID><m:Test>true</m:Test>"
        '<m:Prepared>2026-01-01T00:00:00Z</m:Prepared><m:Sender id="T"/></m:Header>'
        f"<m:Structures>{content}</m:Structures></m:Structure>"
    ).encode()


def _item(kind: str, id_: str, body: str, attributes: str = "", version: str = "1.0") -> str:
    return (
        f'<s:{kind}s><s:{kind} agencyID="T" id="{id_}" version="{version}" {attributes}><c:Name>{id_}</c:Name>{body}'
        f"</s:{kind}></s:{kind}s>"
    )


def codelist(id_: str, codes: Iterable[str], more: str = "") -> str:
    """Return the codelist T:ID(1.0); a code ``A<B`` has the parent B, and ``A@2010/2015`` Fusion's validity."""
    items = ""
    for code in codes:
        named, _, parent = code.partition("<")
        own, _, dates = named.partition("@")
        below = f"<s:Parent>{parent}</s:Parent>" if parent else ""
        note = (
            f"<c:Annotations><c:Annotation><c:AnnotationTitle>{dates}</c:AnnotationTitle>"
            "<c:AnnotationType>FR_VALIDITY_PERIOD</c:AnnotationType></c:Annotation></c:Annotations>"
            if dates
            else ""
        )
        items += f'<s:Code id="{own}">{note}<c:Name>{own}</c:Name>{below}</s:Code>'
    return _item("Codelist", id_, items + more)


def extension(id_: str, prefix: str = "", selection: str = "") -> str:
    """Return an extension by codes of another codelist."""
    attribute = f' prefix="{prefix}"' if prefix else ""
    return (
        f"<s:CodelistExtension{attribute}><s:Codelist>{URN}codelist.Codelist=T:{id_}(1.0)</s:Codelist>{selection}"
        "</s:CodelistExtension>"
    )


def value_list(id_: str, values: Iterable[str]) -> str:
    """Return the value list T:ID(1.0)."""
    items = "".join(f'<s:ValueItem id="{value}"><c:Name>{value}</c:Name></s:ValueItem>' for value in values)
    return _item("ValueList", id_, items)


def coded(id_: str, cls: str = "Codelist") -> str:
    """Return a representation enumerated by T:ID(1.0)."""
    return f"<s:Enumeration>{URN}codelist.{cls}=T:{id_}(1.0)</s:Enumeration>"


def text(text_type: str = "String", sentinels: Sequence[str] = (), **facets: object) -> str:
    """Return a text format."""
    written = " ".join(f'{name}="{value}"' for name, value in facets.items())
    inner = "".join(
        f'<s:SentinelValue value="{sentinel}"><c:Name>x</c:Name></s:SentinelValue>' for sentinel in sentinels
    )
    return f'<s:TextFormat textType="{text_type}" {written}>{inner}</s:TextFormat>'


def _component(kind: str, id_: str, representation: str, more: str = "", attributes: str = "", occurs: str = "") -> str:
    concept = f"{URN}conceptscheme.Concept=T:CS(1.0).{id_}"
    local = f"<s:LocalRepresentation {occurs}>{representation}</s:LocalRepresentation>"
    return f'<s:{kind} id="{id_}" {attributes}><s:ConceptIdentity>{concept}</s:ConceptIdentity>{local}{more}</s:{kind}>'


def dimension(id_: str, representation: str, role: str = "") -> str:
    """Return a dimension, also one whose role is a concept of the common scheme."""
    roles = f"<s:ConceptRole>{URN}conceptscheme.Concept=SDMX:SDMX_CONCEPT_ROLES(1.0).{role}</s:ConceptRole>"
    return _component("Dimension", id_, representation, roles if role else "")


def time(representation: str = text("ObservationalTimePeriod")) -> str:
    """Return TIME_PERIOD."""
    return _component("TimeDimension", "TIME_PERIOD", representation)


def attribute(id_: str, representation: str = text(), to: str = "", usage: str = "optional", occurs: str = "") -> str:
    """Return an attribute of the observation, or of ``to``: ``DATASET``, a group, or dimensions with commas.

    ``SEX?`` is a dimension that values may omit.
    """
    where = "<s:Observation/>"
    if to == "DATASET":
        where = "<s:Dataflow/>"
    elif to.startswith("GROUP:"):
        where = f"<s:Group>{to.removeprefix('GROUP:')}</s:Group>"
    elif to:
        where = "".join(
            f'<s:Dimension optional="{str(part.endswith("?")).lower()}">{part.rstrip("?")}</s:Dimension>'
            for part in to.split(",")
        )
    more = f"<s:AttributeRelationship>{where}</s:AttributeRelationship>"
    return _component("Attribute", id_, representation, more, f'usage="{usage}"', occurs)


def measure(
    id_: str = "OBS_VALUE", representation: str = text("Double"), usage: str = "optional", occurs: str = ""
) -> str:
    """Return a measure."""
    return _component("Measure", id_, representation, "", f'usage="{usage}"', occurs)


def concepts(*written: tuple[str, str, str]) -> str:
    """Return the concept scheme T:CS(1.0) of concepts: id, core representation, and its occurrences."""
    items = "".join(
        f'<s:Concept id="{id_}"><c:Name>{id_}</c:Name>'
        f"<s:CoreRepresentation {occurs}>{representation}</s:CoreRepresentation></s:Concept>"
        for id_, representation, occurs in written
    )
    return _item("ConceptScheme", "CS", items)


def group(id_: str, *dimensions: str) -> str:
    """Return a group of dimensions."""
    inner = "".join(f"<s:GroupDimension><s:DimensionReference>{dimension}</s:DimensionReference></s:GroupDimension>"
                    for dimension in dimensions)  # fmt: skip
    return f'<s:Group id="{id_}">{inner}</s:Group>'


def structure(*components: str) -> str:
    """Return the data structure T:D(1.0)."""
    kinds: dict[str, str] = {"Dim": "", "Tim": "", "Gro": "", "Att": "", "Mea": ""}
    for component in components:
        kinds[component[3:6]] += component
    body = f'<s:DimensionList id="DimensionDescriptor">{kinds["Dim"]}{kinds["Tim"]}</s:DimensionList>{kinds["Gro"]}'
    body += f'<s:AttributeList id="AttributeDescriptor">{kinds["Att"]}</s:AttributeList>' if kinds["Att"] else ""
    body += f'<s:MeasureList id="MeasureDescriptor">{kinds["Mea"]}</s:MeasureList>' if kinds["Mea"] else ""
    return _item("DataStructure", "D", f"<s:DataStructureComponents>{body}</s:DataStructureComponents>")


FLOWS = (
    _item("Dataflow", "F", f"<s:Structure>{DSD}</s:Structure>")
    + _item(
        "ProvisionAgreement", "PA",
        f"<s:Dataflow>{FLOW}</s:Dataflow><s:DataProvider>{PROVIDER}</s:DataProvider>",
    )
)  # fmt: skip
"""T:F(1.0) of T:D(1.0), and T:PA(1.0) of both and the provider P."""


def constraint(
    body: str, to: str = "DataStructure", id_: str = "C", role: str = "Allowed", more: str = "",
    version: str = "1.0",
) -> str:  # fmt: skip
    """Return a data constraint on T:D(1.0), T:F(1.0), T:PA(1.0) or P."""
    target = {"DataStructure": DSD, "Dataflow": FLOW, "ProvisionAgreement": AGREEMENT, "DataProvider": PROVIDER}[to]
    attached = f"<s:ConstraintAttachment><s:{to}>{target}</s:{to}></s:ConstraintAttachment>"
    return _item("DataConstraint", id_, attached + body, f'role="{role}" {more}', version)


def region(*selections: str, include: str = "true", more: str = "") -> str:
    """Return a cube region."""
    return f'<s:CubeRegion include="{include}" {more}>{"".join(selections)}</s:CubeRegion>'


def selected(id_: str, *values: str, kind: str = "KeyValue", more: str = "") -> str:
    """Return values of a component; ``A+`` cascades, ``A-`` without the root, ``A@2020/2021`` is valid from and to."""
    written = ""
    for value in values:
        own, _, dates = value.partition("@")
        start, _, end = dates.partition("/")
        extra = f'validFrom="{start}" ' if start else ""
        extra += f'validTo="{end}" ' if end else ""
        extra += {"+": 'cascadeValues="true"', "-": 'cascadeValues="excluderoot"'}.get(own[-1:], "")
        written += f"<s:Value {extra}>{own.rstrip('+-')}</s:Value>"
    return f'<s:{kind} id="{id_}" {more}>{written}</s:{kind}>'


def keys(*every_key: dict[str, str], included: str = "true") -> str:
    """Return a key set."""
    inner = "".join(
        "<s:Key>" + "".join(selected(id_, value) for id_, value in key.items()) + "</s:Key>" for key in every_key
    )
    return f'<s:DataKeySet isIncluded="{included}">{inner}</s:DataKeySet>'


def rules_of(snapshot: Snapshot, reference: str = DSD, **settings: Any) -> Rules:
    """Return the compiled rules."""
    return compile_rules(Structures(snapshot), reference, **settings)


def table(rows: Sequence[dict[str, Any]], names: Iterable[str] = ()) -> pl.DataFrame:
    """Return rows as a table; columns are texts unless their values have another type."""
    names = list(dict.fromkeys([*names, *(name for row in rows for name in row)]))
    columns = {name: [row.get(name) for row in rows] for name in names}
    return pl.DataFrame([pl.Series(name, values, dtype=_kind(values)) for name, values in columns.items()])


def _kind(values: list[Any]) -> type[pl.String] | None:
    return None if any(isinstance(value, list | float) for value in values) else pl.String


def findings_of_rows(checked: pl.DataFrame) -> list[list[str]]:
    """Return the findings of each row, as ``rule COMPONENT value``."""
    return [
        [" ".join(filter(None, [error["rule"], error["component"], error["value"]])) for error in errors or ()]
        for errors in checked["_errors"].to_list()
    ]
