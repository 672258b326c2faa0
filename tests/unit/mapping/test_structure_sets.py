"""Maps of structure sets (2.1)."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_replica import MemoryStore, Partition, Position, Record, Snapshot
from kafka_replica.data.errors import MapError
from kafka_replica.data.polars import transform
from kafka_replica.errors import UsageError
from kafka_replica.sdmx import split_message
from kafka_replica.stores.delta import Delta
from support.mapping.maps_by_hand import named, plan_of
from support.mapping.sets_by_hand import by_codelist, by_text, by_values, codelist_map, component, structure_set
from support.rules.structures_by_hand import (
    attribute,
    coded,
    codelist,
    dimension,
    measure,
    message,
    structure,
    table,
    text,
    time,
)

SET = "urn:sdmx:org.sdmx.infomodel.mapping.StructureSet=T:SET(1.0)"
ONE = "urn:sdmx:org.sdmx.infomodel.mapping.StructureMap=T:SET(1.0).M"
_CODES = (
    '<s:Codelists><s:Codelist agencyID="T" id="CL" version="1.0"><c:Name>CL</c:Name>'
    '<s:Code id="F"><c:Name xml:lang="de">Frauen</c:Name><c:Name xml:lang="en">Women</c:Name>'
    "<c:Description>all women</c:Description></s:Code>"
    '<s:Code id="M"><c:Name xml:lang="de">Männer</c:Name></s:Code></s:Codelist></s:Codelists>'
)


def version(set_: bytes, *contents: str) -> Snapshot:
    """Return version 1 of a store with the set and structures of 3.0."""
    source = Partition("structures", 0)
    parts = [part for data in (set_, *(message(content) for content in contents)) for part in split_message(data)]
    records = [
        Record(bytes(part.urn), part.value, i, -1, (("content-type", part.content_type.encode()),), source)
        for i, part in enumerate(parts)
    ]
    store = MemoryStore()
    store.apply(Delta(records), Position({source: len(records)}))
    return store.snapshot()


def became(snapshot: Snapshot, rows: list[dict[str, Any]], *names: str, reference: str = ONE) -> list[Any]:
    """Return each mapped row, or the rules it broke."""
    mapped = transform(table(rows), plan_of(snapshot, reference))
    return [
        [one["rule"] for one in row["_errors"]] if row["_errors"] else tuple(row[name] for name in names)
        for row in mapped.iter_rows(named=True)
    ]


@pytest.mark.parametrize("kind", ["Codelist", "Hybrid"])
def test_codes_are_mapped_by_codelist_maps(kind: str) -> None:
    """Codes map by flat or hybrid codelist maps; a component without a mapping keeps its values (2.1 Section 2)."""
    set_ = structure_set(
        codelist_map("CODES", kind, A="X", B="Y"),
        components=component("AREA", "REGION", by_codelist("CODES")) + component("SEX", "GENDER"),
    )
    snapshot = version(set_, named("S", "AREA SEX"), named("G", "REGION GENDER"))
    rows = [{"AREA": area, "SEX": "F", "TIME_PERIOD": "2020", "OBS_VALUE": "1"} for area in ("A", "B", "C")]
    wanted = [("X", "F", "2020", "1"), ("Y", "F", "2020", "1"), ["unmapped-value"]]
    for reference in (ONE, SET, "T:SET(1.0)"):
        assert became(snapshot, rows, "REGION", "GENDER", "TIME_PERIOD", "OBS_VALUE", reference=reference) == wanted


def test_hierarchical_codes_are_mapped_by_their_ids() -> None:
    """A hybrid map names a hierarchical code with its hierarchy; in data it is the id of the code."""
    hybrid = codelist_map("CODES", "Hybrid", A="X", B="Y").replace('<Ref id="', '<Ref containerID="H" id="')
    hybrid = hybrid.replace('package="codelist" class="Codelist"', 'package="codelist" class="HierarchicalCodelist"')
    set_ = structure_set(hybrid, components=component("AREA", "REGION", by_codelist("CODES")))
    snapshot = version(set_, named("S", "AREA"), named("G", "REGION"))
    rows = [{"AREA": area, "TIME_PERIOD": "2020", "OBS_VALUE": "1"} for area in ("A", "B", "C")]
    assert became(snapshot, rows, "REGION") == [("X",), ("Y",), ["unmapped-value"]]


def test_values_and_texts() -> None:
    """Values map by pairs, codes to their value, name or description: in English, otherwise in the first language."""
    set_ = structure_set(
        components=component("AREA", "AREA", by_values(AT="40", DE="276"))
        + component("SEX", "SEX", by_text("Value")) + component("SEX", "LABEL", by_text("Name"))
        + component("SEX", "NOTE", by_text("Description")),
    )  # fmt: skip
    source = structure(dimension("AREA", text()), dimension("SEX", coded("CL")), time(), measure())
    target = structure(
        dimension("AREA", text()), dimension("SEX", text()), time(), attribute("LABEL"), attribute("NOTE"), measure()
    )
    renamed = [
        one.replace('agencyID="T" id="D"', f'agencyID="T" id="{id_}"') for one, id_ in ((source, "S"), (target, "G"))
    ]
    snapshot = version(set_, _CODES, *renamed)
    rows = [{"AREA": area, "SEX": sex, "TIME_PERIOD": "2020"} for area, sex in (("AT", "F"), ("DE", "M"), ("AT", "X"))]
    assert became(snapshot, rows, "AREA", "SEX", "LABEL", "NOTE") == [
        ("40", "F", "Women", "all women"), ("276", "M", "Männer", None), ["unmapped-value"] * 2,
    ]  # fmt: skip


def test_maps_of_concepts_are_not_maps_of_codes() -> None:
    """A map of concepts with the same id is not used for codes."""
    ends = "".join(
        f'<s:{side}><Ref agencyID="T" id="CS" version="1.0" package="conceptscheme" class="ConceptScheme"/></s:{side}>'
        for side in ("Source", "Target")
    )
    of_concepts = (
        f'<s:ConceptSchemeMap id="M1"><c:Name>M1</c:Name>{ends}<s:ConceptMap><s:Source><Ref id="A"/></s:Source>'
        '<s:Target><Ref id="B"/></s:Target></s:ConceptMap></s:ConceptSchemeMap>'
    )
    plain = (named("S", "A"), named("G", "A"))
    components = component("A", "A", by_codelist("M1"))
    both = version(structure_set(codelist_map("M1", A="X"), of_concepts, components=components), *plain)
    assert became(both, [{"A": "A", "TIME_PERIOD": "2020"}], "A") == [("X",)]
    with pytest.raises(MapError, match="no codelist map 'M1'"):
        plan_of(version(structure_set(of_concepts, components=components), *plain), ONE)


def test_missing_maps_and_components_without_codes_are_reported() -> None:
    """A missing map, a missing codelist map, and names of components without codes are reported."""
    plain = (named("S", "A"), named("G", "A"))
    snapshot = version(structure_set(components=component("A", "A")), *plain)
    with pytest.raises(UsageError, match="name one of its structure maps: M"):
        plan_of(snapshot, ONE.replace(".M", ".N"))
    with pytest.raises(MapError, match="no codelist map 'NO'"):
        plan_of(version(structure_set(components=component("A", "A", by_codelist("NO"))), *plain), ONE)
    with pytest.raises(MapError, match="A becomes the Name of its code, but it has no codelist"):
        plan_of(version(structure_set(components=component("A", "A", by_text("Name"))), *plain), ONE)
    assert codelist("CL", ["A"])
