"""SDMX-CSV with Spark: it reads and writes the same as polars; no Python runs for rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from kafka_replica.data import polars as local
from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files import names_of, usages_of
from kafka_replica.data.polars.datasets import read_sdmx_csv as read_locally
from kafka_replica.errors import UsageError
from kafka_replica.sdmx import Structures
from kafka_replica_spark import validate
from kafka_replica_spark.datasets import read_sdmx_csv, rows_of, structures_in, write_sdmx_csv
from kafka_replica_spark.datasets.reading import plain_csv_rows
from kafka_replica_spark.datasets.rows import split_by_structure
from support.datasets.csv_cases import (
    CSV_CASES,
    MEANT,
    PLAIN_CSV,
    SAYING,
    WRONG_HEADERS,
    WRONG_WORDS,
    CsvCase,
    world,
    world_rules,
)
from support.datasets.deletions import NAMED, named_rows
from support.datasets.normalized_cases import DAYS, MIXED, rows_of_days, time_rules
from support.effort import first_in_usual
from support.rules.structures_by_hand import rules_of, version_of


def rows_in(df: DataFrame) -> list[dict[str, Any]]:
    """Return the rows as dictionaries."""
    return [row.asDict(recursive=True) for row in df.collect()]


@pytest.mark.parametrize("case", CSV_CASES, ids=[case.name for case in CSV_CASES])
def test_each_csv_file_gives_the_rows_of_the_field_guide(case: CsvCase, spark: SparkSession, tmp_path: Path) -> None:
    """Each file gives the rows that the field guide defines."""
    file = tmp_path / "data.csv"
    file.write_bytes(case.data)
    rules = world_rules() if case.with_rules else None
    found = read_sdmx_csv(spark, str(file), rules=rules, line_breaks=case.line_breaks, **case.settings)
    assert rows_in(found) == case.rows
    assert "Python" not in found._jdf.queryExecution().toString()


@pytest.mark.parametrize(("name", "data", "expected_text"), WRONG_HEADERS, ids=[name for name, _, _ in WRONG_HEADERS])
def test_wrong_csv_header(name: str, data: str, expected_text: str, spark: SparkSession, tmp_path: Path) -> None:
    """A file that is not SDMX-CSV is rejected immediately, with the error of polars' reader."""
    file = tmp_path / "data.csv"
    file.write_text(data)
    with pytest.raises(DatasetError, match=expected_text):
        read_sdmx_csv(spark, str(file))


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("line_breaks", first_in_usual([False, True], 1))
def test_bytes_that_are_not_in_the_encoding_are_refused(line_breaks: bool, spark: SparkSession, tmp_path: Path) -> None:
    """A file in another encoding is refused, and no letter is lost: Java alone would replace it by U+FFFD."""
    file = tmp_path / "data.csv"
    rows = "dataflow,T:F(1.0),A,\ndataflow,T:F(1.0),A,Liège\n"
    file.write_bytes(f"STRUCTURE,STRUCTURE_ID,DIM_1,NOTE\n{rows}".encode("latin-1"))
    with pytest.raises(DatasetError, match="it is not utf-8, see byte"):
        read_locally(file)
    df = read_sdmx_csv(spark, str(file), line_breaks=line_breaks)
    for run in (df.count, df.select("DIM_1").collect):
        with pytest.raises(PySparkException, match=r"so it is not UTF-8, .* give its encoding"):
            run()
    read = read_sdmx_csv(spark, str(file), line_breaks=line_breaks, encoding="ISO-8859-1")
    assert [row["NOTE"] for row in read.collect()] == [None, "Liège"]
    file.write_bytes("FREQ,Mémo\nA,x\n".encode("latin-1"))
    with pytest.raises(DatasetError, match="so it is not UTF-8"):
        plain_csv_rows(spark, str(file))
    file.write_bytes("FREQ,MEMO\nA,é\n".encode("latin-1"))
    with pytest.raises(PySparkException, match="so it is not UTF-8"):
        plain_csv_rows(spark, str(file)).rows.collect()


@pytest.mark.parametrize(
    "row", first_in_usual(["dataflow,T:F(1.0)", "dataflow,T:F(1.0),A,B", 'dataflow,T:F(1.0),"a\nb"'], 1)
)
def test_rows_of_other_lengths_end_the_job(row: str, spark: SparkSession, tmp_path: Path) -> None:
    """Short and long rows are never accepted, also where cells contain unexpected line breaks."""
    file = tmp_path / "data.csv"
    file.write_text(f"STRUCTURE,STRUCTURE_ID,DIM_1\ndataflow,T:F(1.0),A\n{row}\n")
    df = read_sdmx_csv(spark, str(file))
    for run in (df.count, df.select("DIM_1").collect, df.filter("DIM_1 = 'A'").count):
        with pytest.raises((PySparkException, Py4JJavaError)) as error:
            run()
        assert "MALFORMED" in str(error.value)


@pytest.mark.usefixtures("uncompiled")
def test_spark_rejects_what_polars_rejects(spark: SparkSession, tmp_path: Path) -> None:
    """Spark rejects what polars' reader rejects, immediately or when rows are read, and reads what polars reads."""
    file = tmp_path / "data.csv"
    for _, data, _ in PLAIN_CSV[:-1]:
        file.write_text(str(data))
        with pytest.raises((DatasetError, PySparkException, Py4JJavaError)):
            plain_csv_rows(spark, str(file)).rows.count()
    file.write_text('DIM_1,OBS_VALUE,NOTE\n\nA,"1,5",""\n\nB,,"1,5"\n\n')
    found = plain_csv_rows(spark, str(file), rules=world_rules(), decimal=",").rows
    assert [tuple(row) for row in found.collect()] == [("A", "1.5", None), ("B", None, "1,5")]
    with pytest.raises(UsageError, match="give one character"):
        read_sdmx_csv(spark, str(file), decimal="")


@pytest.mark.long
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("action", ["D", "", None])
def test_a_deletion_that_gives_a_name_without_a_code(
    action: str | None, spark: SparkSession, tmp_path: Path
) -> None:  # fmt: skip
    """Spark reads the empty text, and its validation has the findings of polars."""
    rules = rules_of(version_of(*NAMED), action="information" if action else "delete")
    file = tmp_path / "data.csv"
    file.write_text(named_rows(action))
    wanted = local.validate(read_locally(file, rules=rules), rules).to_dicts()
    found = rows_in(validate(read_sdmx_csv(spark, str(file), rules=rules), rules))
    assert found == wanted
    assert [row["A"] for row in found] == ["", "a", "a", None, "a"]
    assert [row["L"] for row in found] == [None, None, [""], None, None]


def test_version_1_has_no_actions(spark: SparkSession, tmp_path: Path) -> None:
    """A row with action delete ends a job that would write it without its action."""
    rows = [("A", "I"), ("B", None)]
    schema, path = "DIM_1 string, ACTION string", str(tmp_path / "data")
    write_sdmx_csv(spark.createDataFrame(rows, schema).coalesce(1), path, world_rules(), version="1.0")
    assert read_locally(path)["DIM_1"].to_list() == ["A", "B"]
    df = spark.createDataFrame([*rows, ("A", "D")], schema)
    with pytest.raises(PySparkException, match="other than information"):
        write_sdmx_csv(df, path, world_rules(), version="1.0", mode="overwrite")
    for words, expected_text in WRONG_WORDS:
        with pytest.raises(UsageError, match=expected_text):
            write_sdmx_csv(df, path, world_rules(), **words)


@pytest.mark.long
def test_a_different_header_within_a_folder_ends_the_job(spark: SparkSession, tmp_path: Path) -> None:
    """A different header among files read as one ends the job; files with separate paths may differ."""
    (tmp_path / "a.csv").write_text("STRUCTURE,STRUCTURE_ID,DIM_1\ndataflow,T:F(1.0),A\n")
    (tmp_path / "b.csv").write_text("STRUCTURE,STRUCTURE_ID,NOTE\ndatastructure,T:D,x\n")
    with pytest.raises(PySparkException, match="another header"):
        read_sdmx_csv(spark, str(tmp_path)).collect()
    both = read_sdmx_csv(spark, [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")])
    assert both.columns == ["STRUCTURE", "STRUCTURE_ID", "DIM_1", "NOTE"]
    assert [urn.reference for urn in structures_in(both)] == ["T:D(*)", "T:F(1.0)"]
    assert rows_of(both, world_rules()).count() == 2
    other = both.withColumn("STRUCTURE_ID", F.lit("T:OTHER(1.0)"))
    assert rows_of(other, world_rules()).count() == 0
    _, others = split_by_structure(other, world_rules(), ())
    assert {urn.cls: count for urn, count in others.items()} == {"Dataflow": 1, "DataStructure": 1}
    _, others = split_by_structure(other.withColumn("STRUCTURE", F.lit("dataflow")), world_rules(), ())
    assert list(others.values()) == [2]


@pytest.mark.usefixtures("uncompiled")
def test_rows_that_are_meant(spark: SparkSession) -> None:
    """The rows of an artefact are selected as with polars."""
    schema = "STRUCTURE string, STRUCTURE_ID string, DATAFLOW string, ROW int"
    df = spark.createDataFrame([(*row.values(), number) for number, row in enumerate(SAYING)], schema).coalesce(1)
    for artefact, with_usages, meant in MEANT:
        rules = rules_of(world(), artefact)
        usages = usages_of(Structures(world()), rules) if with_usages else ()
        assert [row["ROW"] for row in rows_of(df, rules, usages).collect()] == meant


@pytest.mark.long
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("labels", ["both", "id", "name"])
def test_files_written_by_spark_are_read_by_both_engines(labels: Any, spark: SparkSession, tmp_path: Path) -> None:
    """Files written by Spark give the frame again, in Spark and in polars, including odd texts."""
    rules = world_rules()
    rows = [
        (
            "A",
            "B",
            "2014",
            1.5,
            ["X", "Y"],
            {"en": "a|b;c", "fr": 'd"'},
            [{"en": "a;b"}, {"de": "x"}],
            ' Nota: "bene" ',
        ),
        ("A", "X", "2015", -2.0, ["A"], {"und": '"x"; y'}, None, "a\\;b,\\"),
        ("B", None, None, None, None, {"und": "Source: x"}, None, None),
    ]
    schema = (
        "DIM_1 string, DIM_2 string, TIME_PERIOD string, OBS_VALUE double, ATTR_1 array<string>, "
        "ATTR_2 map<string,string>, ATTR_3 array<map<string,string>>, NOTE string"
    )
    df = spark.createDataFrame(rows, schema)
    folder = tmp_path / "written"
    write_sdmx_csv(
        df.repartition(2), str(folder), rules, labels=labels, keys="series", action="merge",
        names=names_of(Structures(world()), rules.artefact), languages={"ATTR_2": ["en", "fr"]},
    )  # fmt: skip
    again = read_sdmx_csv(spark, str(folder), rules=rules)
    wanted = [
        {**row, "OBS_VALUE": {1.5: "1.5", -2.0: "-2"}.get(row["OBS_VALUE"])}
        for row in rows_in(df.orderBy("TIME_PERIOD"))
    ]
    assert rows_in(again.select(df.columns).orderBy("TIME_PERIOD")) == wanted
    assert {row["ACTION"] for row in again.collect()} == {"M"}
    locally = read_locally(folder, rules=rules).sort("TIME_PERIOD", nulls_last=False)
    assert locally["ATTR_1"].to_list() == [row["ATTR_1"] for row in wanted]
    assert locally["NOTE"].to_list() == [row["NOTE"] for row in wanted]
    found = validate(again, rules).orderBy("TIME_PERIOD").select("_errors").collect()
    of_polars = local.validate(locally, rules)["_errors"].to_list()
    assert [[one.rule for one in row[0] or ()] for row in found] == [
        [error["rule"] for error in errors or ()] for errors in of_polars
    ]


@pytest.mark.long
def test_spark_writes_periods_as_days(spark: SparkSession, tmp_path: Path) -> None:
    """Periods become the same days as with polars, or date-times if there is one among them."""
    schema = "DIM_1 string, TIME_PERIOD string, REPORTING_YEAR_START_DAY string, OBS_VALUE string"
    collected: Literal["start", "middle", "end"]
    for days, collected in ((DAYS, "start"), (DAYS, "middle"), (MIXED, "end")):
        df = spark.createDataFrame([tuple(row.values()) for row in rows_of_days(days)], schema)
        folder = tmp_path / f"{len(days)}-{collected}"
        write_sdmx_csv(df.coalesce(1), str(folder), time_rules(), time_format="normalized", collected=collected)
        found = read_locally(folder).sort("OBS_VALUE")["TIME_PERIOD"].to_list()
        assert found == [getattr(day, collected) for day in days]
