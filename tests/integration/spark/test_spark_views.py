"""The content of each view of a version that has something for all of them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pyspark.sql import SparkSession

from kafka_replica import MemoryStore, Snapshot
from kafka_replica.errors import UsageError
from kafka_replica.sdmx import Structures
from kafka_replica_spark import views
from kafka_replica_spark.tables import VIEWS, OmittedArtefact, Selection, ViewTables
from support.spark.spark_world import apply, message, records_of
from support.spark.views_material import records


@pytest.fixture(scope="module")
def version() -> Snapshot:
    """The material."""
    found = records()
    return apply(MemoryStore(), found, len(found))


def rows(snapshot: Snapshot, view: str, *columns: str, **selection: str) -> list[tuple[Any, ...]]:
    """Return these columns of a view, in which everything can be read."""
    unreadable: list[OmittedArtefact] = []
    table = ViewTables(Structures(snapshot)).table(VIEWS[view], Selection(**selection), unreadable.append)
    assert unreadable == []
    return [tuple(row[name] for name in columns) for row in table.to_pylist()]


def test_each_artefact_is_shown_once(version: Snapshot) -> None:
    """Each artefact is shown once, whatever its class."""
    found = rows(version, "structures", "class", "id", "version", "name", "is_external_reference")
    assert len(found) == 10
    assert ("ValueList", "VL", "1.0", "VL", False) in found
    assert ("DataConstraint", "CON", "1.0", "CON", False) in found


def test_codes_with_extension(version: Snapshot) -> None:
    """Codes that a list has by extension are shown and marked; values of value lists are codes, too."""
    assert rows(version, "codes", "codelist", "code", "parent", "position", "inherited", "name") == [
        ("CL_AREA", "EU", None, 1, False, "eu"),
        ("CL_AREA", "A", "EU", 2, False, "a"),
        ("CL_AREA", "B", "EU", 3, False, "b"),
        ("CL_MORE", "X_EU", None, 1, True, "eu"),
        ("CL_MORE", "X_A", "X_EU", 2, True, "a"),
        ("CL_MORE", "X_B", "X_EU", 3, True, "b"),
        ("CL_MORE", "Z", None, 4, False, "z"),
        ("VL", "€", None, 1, False, "euro"),
    ]


def test_concepts_and_components(version: Snapshot) -> None:
    """A component has its own representation, or that of its concept."""
    codelist = "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=T:CL_AREA(1.0)"
    assert rows(version, "concepts", "concept", "enumeration")[0] == ("AREA", codelist)
    names = "component", "class", "mandatory", "relationship", "dimensions", "enumeration", "text_type", "facets"
    assert rows(version, "components", *names) == [
        ("AREA", "Dimension", True, None, [], codelist, None, []),
        ("TIME_PERIOD", "TimeDimension", True, None, [], None, "ObservationalTimePeriod", []),
        ("VALUE", "Measure", True, None, [], None, None, []),
        ("NOTE", "DataAttribute", False, "dimensions", ["AREA"], None, "String", [("maxLength", "9")]),
    ]


def test_constraints_are_shown_with_all_parts(version: Snapshot) -> None:
    """Constraints are shown with cascades, time ranges, and excluded keys."""
    names = "part", "part_number", "key_number", "included", "component", "value", "cascade_values"
    assert rows(version, "constraints", *names) == [
        ("CubeRegion", 1, None, True, "AREA", "EU", "true"),
        ("CubeRegion", 1, None, True, "AREA", "B", None),
        ("CubeRegion", 1, None, True, "TIME_PERIOD", None, None),
        ("DataKeySet", 1, 1, False, "AREA", "A", None),
    ]
    bounds = "start_period", "start_inclusive", "end_period", "end_inclusive"
    assert rows(version, "constraints", *bounds)[2] == ("2001", True, "2009", False)
    ((attached,), *_) = rows(version, "constraints", "attached_to")
    assert attached == ["urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow=T:FLOW(1.0)"]


def test_mapping_rules_are_shown(version: Snapshot) -> None:
    """Rows of representation maps, and each kind of rule of a structure map, are shown."""
    names = "map", "kind", "sources", "targets", "target_values", "pattern", "frequency", "valid_from"
    codelist = "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=T:CL_AREA(1.0)"
    assert rows(version, "mappings", *names) == [
        ("RM", "RepresentationMapping", [codelist], ["String"], ["1"], None, None, "2001-01-01"),
        ("RM", "RepresentationMapping", [codelist], ["String"], ["2"], None, None, None),
        ("SM", "ComponentMap", ["AREA"], ["REGION"], [], None, None, None),
        ("SM", "FixedValueMap", [], ["FREQ"], ["A"], None, None, None),
        ("SM", "DatePatternMap", ["TIME_PERIOD"], ["TIME"], [], "yyyy", "A", None),
    ]
    _, (second,), *_ = rows(version, "mappings", "source_values")
    assert second == [{"value": "B.*", "is_reg_ex": True, "start": None, "end": None}]


def test_hierarchy_nodes_join_with_codes(version: Snapshot) -> None:
    """Places have the URNs of their codes, which join with the view of codes."""
    codelist = "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=T:CL_AREA(1.0)"
    assert rows(version, "hierarchies", "path", "parent", "depth", "codelist", "code") == [
        ("TOP", None, 1, codelist, "EU"),
        ("TOP.A", "TOP", 2, codelist, "A"),
    ]


def test_a_dangling_reference_is_marked(version: Snapshot) -> None:
    """Each reference is resolved in this version; a dangling one is marked."""
    found = rows(version, "references", "id", "target", "resolved", "dangling")
    gone = "urn:sdmx:org.sdmx.infomodel.datastructure.DataStructure=T:GONE(1.0)"
    assert [one for one in found if one[3]] == [("SM", gone, None, True)]
    assert all(target == resolved for _, target, resolved, dangling in found if not dangling)
    assert len(found) == 14


def test_rows_are_selected_by_agency_id_and_version(version: Snapshot) -> None:
    """Rows are selected by agency, id and version rule."""
    assert {one for (one,) in rows(version, "codes", "codelist", id="CL_M*")} == {"CL_MORE"}
    assert rows(version, "codes", "code", agency="U*") == []
    assert len(rows(version, "structures", "id", version="1.0+")) == 10
    assert rows(version, "structures", "id", version="2.0") == []
    assert len(rows(version, "structures", "id", version="1.*")) == len(rows(version, "structures", "id"))
    for wrong in ("abc+", "[", "1.0+-draft", ""):
        with pytest.raises(UsageError, match=re.escape(f"artefacts of version {wrong!r}")):
            rows(version, "structures", "id", version=wrong)


def test_companions_of_a_message_are_shown(version: Snapshot) -> None:
    """Artefacts in the message of another key are shown, too; stubs are listed."""
    store = MemoryStore()
    two = (
        '<s:Codelists><s:Codelist agencyID="T" id="CL_A" version="1.0"><c:Name>A</c:Name><s:Code id="X"/></s:Codelist>'
        '<s:Codelist agencyID="T" id="CL_B" version="1.0"><c:Name>B</c:Name><s:Code id="Y"/></s:Codelist>'
        '<s:Codelist agencyID="T" id="CL_C" version="1.0" isExternalReference="true"><c:Name>C</c:Name></s:Codelist>'
        "</s:Codelists>"
    )
    first = records_of(message(two))[0].replace(value=message(two))
    snapshot = apply(store, [first], 1)
    unreadable: list[OmittedArtefact] = []
    table = ViewTables(Structures(snapshot)).table(VIEWS["codes"], report=unreadable.append)
    assert table["code"].to_pylist() == ["X", "Y"]
    (stub,) = unreadable
    assert "CL_C" in stub.urn
    assert "stub" in stub.reason


def test_a_missing_concept_is_reported() -> None:
    """A component with a missing concept is shown without its representation, and the concept is reported."""
    found = [record for record in records() if b"ConceptScheme=" not in record.key]
    snapshot = apply(MemoryStore(), found, len(found))
    unreadable: list[OmittedArtefact] = []
    table = ViewTables(Structures(snapshot)).table(VIEWS["components"], report=unreadable.append)
    assert table["enumeration"].to_pylist() == [None] * 4
    assert [one.reason.split(" is ")[0] for one in unreadable] == [
        "the representation of the component AREA",
        "the representation of the measure VALUE",
    ]


def test_references_and_look_ups_list_the_same_dangling_references() -> None:
    """References and look-ups agree, with codes from extensions, and both list unreadable records."""
    base = "urn:sdmx:org.sdmx.infomodel.codelist."
    codes = "".join(
        f'<s:HierarchicalCode id="H{at}"><s:Code>{base}Code=T:{code}</s:Code></s:HierarchicalCode>'
        for at, code in enumerate(("CL(1.0).A", "CL(1.0).NONE", "EXT(1.0).NONE", "NONE(1.0).A", "BAD(1.0).A"))
    )
    content = (
        '<s:Codelists><s:Codelist agencyID="T" id="CL" version="1.0"><c:Name>x</c:Name><s:Code id="A"/></s:Codelist>'
        '<s:Codelist agencyID="T" id="EXT" version="1.0"><c:Name>x</c:Name><s:CodelistExtension><s:Codelist>'
        f"{base}Codelist=T:CL(1.0)</s:Codelist></s:CodelistExtension></s:Codelist>"
        '<s:Codelist agencyID="T" id="BAD" version="1.0"><c:Name>x</c:Name></s:Codelist></s:Codelists>'
        f'<s:Hierarchies><s:Hierarchy agencyID="T" id="H" version="1.0"><c:Name>x</c:Name>{codes}</s:Hierarchy>'
        "</s:Hierarchies>"
    )
    found = [
        record.replace(value=b"<broken") if b"BAD" in record.key else record for record in records_of(message(content))
    ]
    structures = Structures(apply(MemoryStore(), found, len(found)))
    unreadable: list[OmittedArtefact] = []
    table = ViewTables(structures).table(VIEWS["references"], report=unreadable.append)
    shown = {row["target"] for row in table.to_pylist() if row["dangling"]}
    dangling = structures.dangling_references()
    assert shown == {str(one.target) for one in dangling} == {f"{base}Code=T:CL(1.0).NONE", f"{base}Code=T:NONE(1.0).A"}
    assert [one.urn for one in unreadable] == [str(one) for one in dangling.unreadable]


def test_every_view_is_a_stamped_frame(spark: SparkSession, version: Snapshot) -> None:
    """Each view is a frame with the same number of rows, stamped, with matching metadata."""
    made = views(spark, version)
    for name, view in VIEWS.items():
        frame = getattr(made, name)()
        table = ViewTables(Structures(version)).table(view)
        found = frame.collect()
        assert frame.columns == [*table.schema.names, "_version", "_position"]
        assert len(found) == table.num_rows > 0
        assert {(row._version, row._position) for row in found} == {(1, '{"structures-0": 10}')}
        for column in ("_version", "_position"):
            assert frame.schema[column].metadata == {
                "view": name, "version": 1, "position": '{"structures-0": 10}', "unreadable_count": 0, "unreadable": [],
            }  # fmt: skip
    assert made.unreadable == []
