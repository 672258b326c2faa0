"""Validation of frames against data structures: rejections, findings, and plans."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from kafka_replica import Snapshot, UsageError
from kafka_replica.sdmx.errors import ArtefactNotFoundError, SdmxError
from kafka_replica_spark import split, validate, views
from support.effort import first_in_usual
from support.spark.plans import longest_method
from support.spark.spark_world import (
    GOOD,
    RULES,
    attribute,
    coded,
    codelist,
    component,
    format_,
    frame,
    message,
    structure,
    varied,
    version_of,
)

LABOUR = "urn:sdmx:org.sdmx.infomodel.datastructure.DataStructure=KR_DEMO:DSD_LABOUR(1.0)"
DATAFLOW = "urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow=KR_DEMO:LABOUR(1.0)"
EMPLOYED = {
    "FREQ": "A", "REF_AREA": "AT", "INDICATOR": "EMP", "SEX": "F", "TIME_PERIOD": "2020", "OBS_STATUS": "A",
    "UNIT_MEASURE": "KPS", "DECIMALS": "1", "OBS_VALUE": "12.5", "my own": "?",
}  # fmt: skip
UNCHECKED = ["BROKEN: pattern [A (a class is not closed)", "HTML: text type XHTML"]
ROWS_APART = dict.fromkeys(["duplicate-key", "attribute-differs"], "off")
PYTHON = re.compile("Python|ArrowEval|MapInPandas|MapInArrow")


def first_errors(checked: DataFrame) -> Any:
    """Return the findings of the first row; None if it has none."""
    row = checked.first()
    assert row is not None
    return row["_errors"]


def plan_of(df: DataFrame) -> str:
    """Return the executed plan."""
    return str(df._jdf.queryExecution().executedPlan().toString())


@pytest.fixture(scope="module")
def employed(spark: SparkSession, demo: Snapshot) -> dict[str, str]:
    """Return a good observation of the samples."""
    rows = views(spark, demo).codes().collect()
    codes = {
        name: next(row.code for row in rows if row.codelist == list_)
        for name, list_ in (("REF_AREA", "CL_REF_AREA"), ("INDICATOR", "CL_INDICATOR"), ("SEX", "CL_SEX"))
    }
    return EMPLOYED | codes


@pytest.mark.parametrize(
    "reference", first_in_usual([DATAFLOW, LABOUR, "KR_DEMO:LABOUR(1.0)", "KR_DEMO:DSD_LABOUR(1.0)"], 1)
)
def test_good_data_has_no_errors(spark: SparkSession, demo: Snapshot, employed: dict[str, str], reference: str) -> None:
    """A data structure is named by its URN, its reference, or those of its dataflow; a valid row has NULL."""
    checked = validate(frame(spark, [employed]), reference, demo)
    assert checked.columns == [*employed, "_errors"]
    assert checked.first() == Row(**employed, _errors=None)


def test_each_error_of_a_row_is_a_finding_with_all_fields(
    spark: SparkSession, demo: Snapshot, employed: dict[str, str]
) -> None:
    """A finding has rule, component, value, message, severity and artefact, for every error of a row."""
    bad = employed | {"SEX": "X", "REF_AREA": None, "TIME_PERIOD": "2020-13"}
    (row,) = validate(frame(spark, [bad]), LABOUR, demo).collect()
    by_component = {error.component: error for error in row._errors}
    assert by_component["SEX"] == Row(
        rule="code-unknown", component="SEX", value="X",
        message="the value of SEX is not a code of KR_DEMO:CL_SEX(1.0)",
        severity="error", artefact="urn:sdmx:org.sdmx.infomodel.codelist.Codelist=KR_DEMO:CL_SEX(1.0)",
    )  # fmt: skip
    missing = by_component["REF_AREA"]
    assert (missing.rule, missing.value, missing.artefact) == ("dimension-missing", None, LABOUR)
    assert by_component["TIME_PERIOD"].rule == "time-period"
    assert len(row._errors) == 3


def test_good_and_bad_rows_are_split(spark: SparkSession, demo: Snapshot, employed: dict[str, str]) -> None:
    """Good rows come without the column, bad ones with it; a frame that was not validated is rejected."""
    df = frame(spark, [employed, employed | {"SEX": "X"}])
    good, bad = split(validate(df, LABOUR, demo))
    assert good.columns == df.columns
    assert [row.SEX for row in good.collect()] == [employed["SEX"]]
    assert [row.SEX for row in bad.collect()] == ["X"]
    with pytest.raises(UsageError, match="validate"):
        split(df)


def test_no_python_in_the_plan(spark: SparkSession, rules: Snapshot) -> None:
    """With every rule in it, the plan has no node that starts Python; a UDF's plan shows the test can fail."""
    from pyspark.sql import functions as F  # noqa: N812

    with_all = GOOD | dict.fromkeys(["UNIT", "FLAG", "INTEGER", "SHARE", "LENGTH", "PATTERN", "OBS_VALUE"], "1")
    checked = validate(frame(spark, [with_all]), RULES, rules)
    assert not PYTHON.search(plan_of(checked))
    udf = F.udf(lambda text: text, "string")
    assert PYTHON.search(plan_of(checked.select(udf("FREQ"))))


@pytest.mark.long
def test_the_column_metadata_has_the_version(spark: SparkSession, rules: Snapshot) -> None:
    """The column's metadata has version, position, data structure and unchecked items; a stamp adds columns."""
    df = varied(spark, "XML_NAME", ["x"])
    metadata = validate(df, RULES, rules).schema["_errors"].metadata
    position = json.dumps(rules.position.as_json())
    assert metadata == {"version": 1, "position": position, "artefact": RULES, "unchecked": UNCHECKED, "dataset": []}
    stamped = validate(df, RULES, rules, stamp=True)
    assert stamped.columns == [*df.columns, "_errors", "_version", "_position"]
    assert [(row._version, row._position) for row in stamped.collect()] == [(1, position)]
    assert dict(stamped.dtypes)["_version"] == "bigint"


@pytest.mark.long
def test_unchecked_rules_are_reported(spark: SparkSession, rules: Snapshot) -> None:
    """Unusable patterns, types without a rule and unreadable columns are reported, without rejecting rows."""
    names = ["BROKEN", "HTML"]
    checked = validate(frame(spark, [GOOD | dict.fromkeys(names, "1")]), RULES, rules)
    assert sorted(checked.schema["_errors"].metadata["unchecked"]) == UNCHECKED
    assert checked.filter("_errors is not null").count() == 0
    good = ", ".join(f"'{value}' {name}" for name, value in GOOD.items())
    checked = validate(spark.sql(f"SELECT {good}, named_struct('a', 1) UNIT"), RULES, rules)
    assert checked.schema["_errors"].metadata["unchecked"] == [*UNCHECKED, "UNIT: values in a column of its type"]
    assert first_errors(checked) is None


@pytest.mark.long
@pytest.mark.parametrize("name", ["TIME_PERIOD", "STATUS", "FREQ", "COUNT", "FLAG"])
def test_a_column_that_is_missing_is_empty_in_each_row(spark: SparkSession, rules: Snapshot, name: str) -> None:
    """A missing column is treated as empty cells, as in SDMX-CSV, and reported once for the whole set."""
    row = {key: value for key, value in GOOD.items() if key != name}
    found = validate(frame(spark, [row, row | {"AREA": "R0002"}]), RULES, rules)
    kind = {"STATUS": "attribute", "FLAG": "attribute", "COUNT": "measure"}.get(name, "dimension")
    assert [[error.rule for error in one._errors] for one in found.collect()] == [[f"{kind}-missing"]] * 2
    reported = [f"error column-missing: there is no column {name}, which must be given"]
    assert found.schema["_errors"].metadata["dataset"] == reported


@pytest.mark.long
def test_columns_in_the_way_are_refused(spark: SparkSession, rules: Snapshot) -> None:
    """An existing column ``_errors`` or ``_source``, and one component in two columns, are rejected."""
    with pytest.raises(UsageError, match="the frame has a column _errors"):
        validate(frame(spark, [GOOD | {"_errors": "x"}]), RULES, rules)
    with pytest.raises(UsageError, match="the frame has a column _source"):
        validate(frame(spark, [GOOD | {"_source": "x"}]), RULES, rules)
    with pytest.raises(UsageError, match="the frame has a column _position"):
        validate(frame(spark, [GOOD | {"_position": "x"}]), RULES, rules, stamp=True)
    with pytest.raises(UsageError, match="more than one column is called FREQ"):
        validate(frame(spark, [GOOD | {"freq": "x"}]), RULES, rules)
    unknown = GOOD | {"X": None, "x": "v"}
    validate(frame(spark, [unknown]), RULES, rules)
    with pytest.raises(UsageError, match="more than one column is called X, x"):
        validate(frame(spark, [unknown | {"ACTION": "D"}]), RULES, rules)


def test_missing_structures_are_refused(spark: SparkSession, demo: Snapshot, rules: Snapshot) -> None:
    """An unknown data structure, and missing enumerations and concepts, are all named."""
    df = frame(spark, [GOOD])
    for unknown in ("T:NOTHING(1.0)", RULES.replace("RULES", "NOTHING")):
        with pytest.raises(ArtefactNotFoundError, match=r"T:NOTHING\(1.0\)"):
            validate(df, unknown, rules)
    with pytest.raises(UsageError, match="Dataflow"):
        validate(df, "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=T:CL_FREQ(1.0)", rules)
    alone = version_of(
        message(
            structure("D", component("Dimension", "A", coded("T:CL_A(1.0)")) + component("Dimension", "B")),
        )
    )
    with pytest.raises(ArtefactNotFoundError, match=r"(?s)version 1: .*: A: .*CL_A\(1.0\).*; B: .*T:CS\(1.0\)"):
        validate(df, "T:D(1.0)", alone)


def test_a_reference_that_means_two_is_refused(spark: SparkSession) -> None:
    """A dataflow and an unrelated data structure of the same name require the URN."""
    body = codelist("CL", ["X"])
    body += structure("D", component("Dimension", "A", coded("T:CL(1.0)")))
    body += structure("E", component("Dimension", "A", coded("T:CL(1.0)")))
    flow = (
        '<s:Dataflows><s:Dataflow agencyID="T" id="D" version="1.0"><c:Name>D</c:Name><s:Structure>'
        "urn:sdmx:org.sdmx.infomodel.datastructure.DataStructure=T:{}(1.0)</s:Structure></s:Dataflow></s:Dataflows>"
    )
    body = body.replace("</s:DataStructures><s:DataStructures>", "")
    df = frame(spark, [{"A": "X"}])
    with pytest.raises(UsageError, match="give a URN"):
        validate(df, "T:D(1.0)", version_of(message(body), message(flow.format("E"))))
    assert first_errors(validate(df, "T:D(1.0)", version_of(message(body), message(flow.format("D"))))) is None


def test_a_stub_for_a_codelist_is_refused(spark: SparkSession) -> None:
    """A stub for a codelist is rejected by name, because its codes are unknown."""
    stub = codelist("CL", []).replace("<s:Codelist ", '<s:Codelist isExternalReference="true" ')
    version = version_of(message(stub + structure("D", component("Dimension", "A", coded("T:CL(1.0)")))))
    with pytest.raises(SdmxError, match=r"needs are missing or unusable: A: .*stub"):
        validate(frame(spark, [{"A": "X"}]), "T:D(1.0)", version)


def test_codes_of_an_extended_list_are_allowed(spark: SparkSession) -> None:
    """Codes of a list that is extended (3.x) are allowed: with the prefix, only those chosen."""
    extension = (
        '<s:CodelistExtension prefix="P_"><s:Codelist>urn:sdmx:org.sdmx.infomodel.codelist.Codelist=T:BASE(1.0)'
        "</s:Codelist><s:InclusiveCodeSelection><s:MemberValue>A%</s:MemberValue></s:InclusiveCodeSelection>"
        "</s:CodelistExtension>"
    )
    version = version_of(
        message(codelist("BASE", ["A1", "A2", "B1"])),
        message(codelist("CL", ["OWN"], extension)),
        message(structure("D", component("Dimension", "A", coded("T:CL(1.0)")))),
    )
    df = frame(spark, [{"A": value} for value in ("OWN", "P_A1", "P_A2", "P_B1", "A1")])
    checked = validate(df, "T:D(1.0)", version).collect()
    assert [row._errors is None for row in checked] == [True, True, True, False, False]


@pytest.mark.long
def test_a_structure_of_forty_components_is_validated(spark: SparkSession) -> None:
    """A wide structure plans and runs: 40 components, a row with an error in each, a row with none."""
    names = [f"C{number:02}" for number in range(40)]
    list_ = codelist("CL", [f"X{number}" for number in range(500)])
    dimensions = "".join(component("Dimension", name, coded("T:CL(1.0)")) for name in names[:20])
    attributes = "".join(attribute(name, format_("Integer", minValue=1, maxValue=9)) for name in names[20:])
    version = version_of(message(list_ + structure("D", dimensions, attributes)))
    good = dict.fromkeys(names[:20], "X1") | dict.fromkeys(names[20:], "5")
    df = frame(spark, [good, dict.fromkeys(names, "no")])
    checked = validate(df, "T:D(1.0)", version)
    first, second = checked.collect()
    assert first._errors is None
    assert [error.component for error in second._errors] == names


@pytest.mark.long
@pytest.mark.parametrize("components", [16, 60])
def test_methods_that_java_compiles(spark: SparkSession, tmp_path: Path, components: int) -> None:
    """No method of a plan is over 8,000 bytes, which Java would interpret at ten times the cost."""
    names = [f"C{number:02}" for number in range(components)]
    half = components // 2
    list_ = codelist("CL", [f"X{number}" for number in range(500)])
    dimensions = "".join(component("Dimension", name, coded("T:CL(1.0)")) for name in names[:half])
    attributes = "".join(attribute(name, format_("Integer", minValue=1, maxValue=9)) for name in names[half:])
    version = version_of(message(list_ + structure("D", dimensions, attributes)))
    frame(spark, [dict.fromkeys(names, "no")]).write.parquet(str(tmp_path / "data"))
    checked = validate(spark.read.parquet(str(tmp_path / "data")), "T:D(1.0)", version, rules={"duplicate-key": "off"})
    for df in (checked, checked.filter("_errors is not null")):
        assert longest_method(df) < 8000
        assert len(first_errors(df)) == components


@pytest.mark.long
def test_long_checks_of_periods_are_compiled(spark: SparkSession, tmp_path: Path) -> None:
    """A check of a period has many parts, and is nevertheless in a method that Java compiles."""
    period = "ObservationalTimePeriod"
    attributes = "".join(
        attribute(name, format_(period, startTime="2000", endTime="2010", **more))
        for name, more in (("RANGE", {}), ("STEPS", {"isSequence": "true", "timeInterval": "P1M"}))
    )
    version = version_of(
        message(codelist("CL", ["X"]) + structure("D", component("Dimension", "D", coded("T:CL(1.0)")), attributes))
    )
    row = {"D": "X", "RANGE": "2011-W01", "STEPS": "1999-01-02"}
    frame(spark, [row]).write.parquet(str(tmp_path / "data"))
    checked = validate(spark.read.parquet(str(tmp_path / "data")), "T:D(1.0)", version, rules=ROWS_APART)
    assert longest_method(checked) < 8000
    reported = [(error.rule, error.component) for error in first_errors(checked)]
    assert reported == [("range", "RANGE"), ("range", "STEPS"), ("sequence", "STEPS")]


@pytest.mark.long
def test_more_questions_than_an_integer_has_bits(spark: SparkSession) -> None:
    """All of 90 missing mandatory attributes are reported, alone and together, and in their order."""
    names = [f"A{number:02}" for number in range(90)]
    attributes = "".join(attribute(name, format_("String"), usage="mandatory") for name in names)
    version = version_of(
        message(codelist("CL", ["X"]) + structure("D", component("Dimension", "D", coded("T:CL(1.0)")), attributes))
    )
    good = {"D": "X"} | dict.fromkeys(names, "x")
    rows = [good | {name: None} for name in names] + [{"D": "X"}, good]
    checked = validate(frame(spark, [good, *rows]), "T:D(1.0)", version, rules=ROWS_APART)
    reported = [[error.component for error in row._errors or ()] for row in checked.select("_errors").collect()]
    assert reported == [[], *([name] for name in names), names, []]


def test_equal_hashes_are_not_equal_keys(spark: SparkSession) -> None:
    """Rows with equal hashes, because Spark's hash ignores NULL, are duplicates only if their values are equal."""
    names = ["A", "B"]
    dimensions = "".join(component("Dimension", name, coded("T:CL(1.0)")) for name in names)
    version = version_of(message(codelist("CL", ["X", "Y"]) + structure("D", dimensions)))
    keys = [(None, "X"), ("X", None), (None, "Y"), ("Y", None), (None, "Y"), ("X", "Y"), ("Y", "X"), ("X", "Y")]
    df = frame(spark, [dict(zip(names, key, strict=True)) for key in keys])
    rows = validate(df, "T:D(1.0)", version, rules={"dimension-missing": "off"}).collect()
    reported = [((row.A, row.B), [error.rule for error in row._errors]) for row in rows if row._errors]
    duplicated = [key for key in keys if keys.count(key) > 1]
    assert sorted(reported, key=str) == sorted([(key, ["duplicate-key"]) for key in duplicated], key=str)


@pytest.mark.long
def test_the_row_that_others_vary(spark: SparkSession, rules: Snapshot) -> None:
    """The row that the other tests vary is valid, although it lacks everything optional."""
    assert first_errors(validate(frame(spark, [GOOD]), RULES, rules)) is None
