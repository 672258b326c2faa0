"""The engine ``spark`` of the commands writes what the local engine writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from pyspark.sql import SparkSession

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.jobs import Engine, Outcome, ValidationJob, engine, sources_of
from kafka_replica.data.polars.datasets import read_sdmx_csv, write_sdmx_csv
from kafka_replica.data.validation import compile_rules, generate_rows
from kafka_replica.data.validation.locations import Location
from kafka_replica.errors import ConfigurationError
from kafka_replica.sdmx import Snapshot, Structures
from support.datasets.ml_messages import BASE, DSD, message
from support.effort import first_in_usual
from support.mapping.several_outcomes import check_several_outcomes, several_outcomes_job
from support.rules.structures_by_hand import attribute, dimension, measure, rules_of, structure, version_of
from support.rules.structures_by_hand import text as of_text

_ORDER = ["TIME_PERIOD", "REF_AREA", "SEX", "INDICATOR", "FREQ"]


@pytest.mark.long
@pytest.mark.usefixtures("spark")
def test_both_engines_write_the_same(demo: Snapshot, spark: SparkSession, tmp_path: Path) -> None:
    """Good rows, rejected rows with their errors in words, counts and the report are the same."""
    rules = compile_rules(Structures(demo), "KR_DEMO:LABOUR(1.0)")
    rows = pl.DataFrame(generate_rows(rules, 100, 1), infer_schema_length=None)
    bad = rows.with_columns(SEX=pl.when(pl.int_range(pl.len()) < 3).then(pl.lit("Q")).otherwise("SEX"))
    write_sdmx_csv(bad.head(60), tmp_path / "data.csv", rules)
    bad.slice(60, 20).write_parquet(tmp_path / "more.parquet")
    bad.slice(80, 10).with_columns(pl.col("FREQ").cast(pl.Categorical)).write_ipc(tmp_path / "rest.arrow")
    bad.tail(10).write_ipc_stream(tmp_path / "rest.arrows")
    sources = sources_of([str(tmp_path / "data.csv"), *map(str, sorted(tmp_path.glob("*.[pa]*")))])
    found: dict[str, Outcome] = {}
    for name in ("local", "spark"):
        runs: Engine = engine(name)
        job = ValidationJob(sources=sources, rules=rules, out=tmp_path / name, time_format="normalized")
        job.out.mkdir()
        found[name] = runs.validate(job, lambda words: None)
    assert _without_locations(found["local"]) == found["spark"]
    assert {sample.location.line for sample in found["local"].report.samples} <= {2, 3, 4}
    assert (found["local"].good_rows, found["local"].rejected_rows) == (97, 3)
    for what in ("good.csv", "rejected.csv"):
        one, other = (read_sdmx_csv(tmp_path / name / what).sort(_ORDER) for name in ("local", "spark"))
        assert one.equals(other)
        assert one.height


def _without_locations(outcome: Outcome) -> Outcome:
    """Return an outcome of the local engine as Spark reports it, which does not know the locations of rows."""
    samples = tuple(sample._replace(location=Location()) for sample in outcome.report.samples)
    return replace(outcome, report=replace(outcome.report, samples=samples))


@pytest.mark.long
@pytest.mark.usefixtures("spark", "uncompiled")
def test_line_breaks_in_cells_need_an_option(demo: Snapshot, tmp_path: Path) -> None:
    """Line breaks within cells need an option on Spark; the error that rejects them names it."""
    rules = compile_rules(Structures(demo), "KR_DEMO:LABOUR(1.0)")
    rows = pl.DataFrame(generate_rows(rules, 2, 1), infer_schema_length=None)
    write_sdmx_csv(rows.with_columns(OWN=pl.lit("two\nlines")), tmp_path / "data.csv", rules)
    sources = sources_of([str(tmp_path / "data.csv")])
    runs = engine("spark")
    assert runs.writes_here
    with pytest.raises(DatasetError, match=r"data\.csv: a row has more or fewer cells .* use --line-breaks"):
        runs.validate(ValidationJob(sources=sources, rules=rules, out=tmp_path), lambda words: None)
    listing = ValidationJob(sources=sources, rules=rules, out=tmp_path, findings=tmp_path / "findings.xlsx")
    with pytest.raises(ConfigurationError, match="Spark writes no workbooks"):
        runs.validate(listing, lambda words: None)
    done = runs.validate(
        ValidationJob(sources=sources, rules=rules, out=tmp_path, line_breaks=True), lambda words: None
    )
    assert (done.good_rows, done.rejected_rows) == (2, 0)


@pytest.mark.long
@pytest.mark.usefixtures("spark", "uncompiled")
def test_both_engines_read_the_same(demo: Snapshot, tmp_path: Path) -> None:
    """UTF-16, earlier rejected rows, and rows of other structures are read alike; an empty file is invalid."""
    rules = compile_rules(Structures(demo), "KR_DEMO:LABOUR(1.0)")
    rows = pl.DataFrame(generate_rows(rules, 3, 1), infer_schema_length=None)
    errors = pl.lit(None, pl.List(pl.String))
    rows[:1].with_columns(_errors=errors).write_parquet(tmp_path / "rejected.parquet")
    write_sdmx_csv(rows[1:2].with_columns(ERRORS=pl.lit("x")), tmp_path / "rejected.csv", rules)
    (tmp_path / "plain.csv").write_bytes(rows[2:].write_csv().encode("utf-16"))
    (tmp_path / "other.csv").write_text("DATAFLOW,SEX\nKR_DEMO:OTHER(1.0),F\n")
    (tmp_path / "empty.csv").touch()
    names = ("rejected.parquet", "rejected.csv", "plain.csv", "other.csv")
    found = {}
    for name in ("local", "spark"):
        out = tmp_path / name
        out.mkdir()
        job = ValidationJob(sources=sources_of([str(tmp_path / each) for each in names]), rules=rules, out=out)
        found[name] = engine(name).validate(job, lambda words: None)
        assert "ERRORS" not in read_sdmx_csv(out / "good.csv").columns
        with pytest.raises(DatasetError, match="the file is empty"):
            engine(name).validate(replace(job, sources=sources_of([str(tmp_path / "empty.csv")])), lambda words: None)
    assert _without_locations(found["local"]) == found["spark"]
    assert (found["local"].good_rows, found["local"].other_rows) == (3, 1)


@pytest.mark.usefixtures("spark", "uncompiled")
@pytest.mark.parametrize(
    ("body", "rows"),
    first_in_usual([('</m:DataSet><m:DataSet ss:action="Delete" ss:structureRef="S">', 1), ("", 0)], 1),
)
def test_empty_messages_and_deletions_of_all_data(demo: Snapshot, tmp_path: Path, body: str, rows: int) -> None:
    """Both engines write no row of a message without rows, even with ``action="delete"``, and one that deletes all."""
    rules = compile_rules(Structures(demo), "KR_DEMO:LABOUR(1.0)", action="delete")
    (tmp_path / "data.xml").write_text(message(body).replace(DSD, str(rules.structure)))
    found = {}
    for name in ("local", "spark"):
        (out := tmp_path / name).mkdir()
        job = ValidationJob(sources=sources_of([str(tmp_path / "data.xml")]), rules=rules, out=out)
        done = engine(name).validate(job, lambda words: None)
        assert (done.good_rows, done.rejected_rows) == (rows, 0)
        found[name] = read_sdmx_csv(out / "good.csv").to_dicts() if rows or name == "local" else []
    expected = {"STRUCTURE": "dataflow", "STRUCTURE_ID": "KR_DEMO:LABOUR(1.0)", "ACTION": "D"}
    assert found == dict.fromkeys(("local", "spark"), [expected] * rows)


@pytest.mark.long
@pytest.mark.usefixtures("spark", "uncompiled")
def test_a_row_with_several_outcomes_is_rejected_once(tmp_path: Path) -> None:
    """A source row is counted, rejected and listed once, as on the local engine, with the same report."""
    job = several_outcomes_job(tmp_path, tmp_path / "out")
    done = engine("spark").map(job, lambda progress: None)
    check_several_outcomes(done, _lines(sorted((job.out / "rejected.csv").glob("part-*.csv")), "utf-8", header=False))
    local = engine("local").map(several_outcomes_job(tmp_path, tmp_path / "local"), lambda progress: None)
    assert _without_locations(local) == done
    found, wanted = (pl.read_csv(folder / "findings.csv").drop("line") for folder in (job.out, tmp_path / "local"))
    assert found.equals(wanted)


@pytest.mark.long
@pytest.mark.usefixtures("spark", "uncompiled")
def test_files_of_different_types_with_marks_in_their_names_are_read(tmp_path: Path) -> None:
    """Values are texts in one file and numbers in another; the marks of patterns in names of files are characters."""
    rules = rules_of(version_of(structure(dimension("ID", of_text()), measure())), action="merge")
    rows = pl.DataFrame({"ID": ["1", "2", "3", "4"]})
    texts = pl.Series(["much", "1.50"])
    (tmp_path / "{a,b}[1]").mkdir()
    files = [tmp_path / "{a,b}[1]" / name for name in ("data*.csv", "more?.parquet")]
    rows[:2].with_columns(OBS_VALUE=texts).write_csv(files[0])
    rows[2:].with_columns(OBS_VALUE=pl.lit(0.1, pl.Float32)).write_parquet(files[1])
    (tmp_path / "data-other.csv").write_text("not a row\n")
    job = ValidationJob(sources=sources_of(map(str, files)), rules=rules, out=tmp_path / "out")
    job.out.mkdir()
    done = engine("spark").validate(job, lambda words: None)
    assert (done.good_rows, done.rejected_rows) == (3, 1)
    good = read_sdmx_csv(job.out / "good.csv")
    assert sorted(good["OBS_VALUE"]) == ["0.1", "0.1", "1.50"]
    assert set(good["ACTION"]) == {"M"}  # that of the rules, because the rows have none
    (empty := tmp_path / "empty[1].csv").touch()
    with pytest.raises(DatasetError, match=r"reading .*/empty\[1\]\.csv: the file is empty"):
        engine("spark").validate(replace(job, sources=sources_of([str(empty)])), lambda words: None)


@pytest.mark.long
@pytest.mark.usefixtures("spark", "uncompiled")
@pytest.mark.parametrize(
    ("separator", "encoding", "first"),
    [(";", "iso-8859-1", ""), ("\t", "utf-16", ""), (",", "utf-8", "STRUCTURE,STRUCTURE_ID,")],
    ids=["semicolons in Latin-1", "tabs in UTF-16", "SDMX-CSV"],
)
def test_rejected_rows_of_csv_are_as_they_were(
    demo: Snapshot, tmp_path: Path, separator: str, encoding: str, first: str
) -> None:
    """Rejected rows of two files with the same header keep columns, order, separator, encoding and cells.

    They have the errors at the end, as on the local engine; the column with the errors of an earlier run is left out.
    Such rows are data again, with the same errors.
    """
    rules = compile_rules(Structures(demo), "KR_DEMO:LABOUR(1.0)")
    own, quotes = "dataflow,KR_DEMO:LABOUR(1.0)," if first else "", '"a""b"'
    header = f"{first}SEX,OBS_VALUE,TIME_PERIOD,Mémo,ERRORS,INDICATOR,FREQ,REF_AREA,OBS_STATUS,DECIMALS,UNIT_MEASURE\n"
    rows = "{own}{sex},5.0,{time},{memo},before,UNE_R,A,LU,A,1,PC\n"
    for number in range(2):
        lines = [
            rows.format(own=own, sex=sex, time=f"20{number}{place}", memo=memo)
            for place, (sex, memo) in enumerate((("Q", "é"), ("F", ""), ("", quotes), ("Q", " b ")))
        ]
        text = "".join([header, *lines]).replace(",", separator)
        (tmp_path / f"data{number}.csv").write_bytes(text.encode(encoding))
    sources = sources_of([str(tmp_path / f"data{number}.csv") for number in range(2)])
    found = {}
    for name in ("local", "spark"):
        job = ValidationJob(sources=sources, rules=rules, out=tmp_path / name, encoding=encoding)
        job.out.mkdir()
        found[name] = engine(name).validate(job, lambda words: None)
    assert (found["spark"].good_rows, found["spark"].rejected_rows) == (2, 6)
    header_of_local, *lines = _lines([tmp_path / "local" / "rejected.csv"], encoding)
    assert len(lines) == 6
    parts = sorted((tmp_path / "spark" / "rejected.csv").glob("part-*.csv"))
    on_spark = _lines(parts, encoding)
    assert [line for line in on_spark if line != header_of_local] == lines
    assert header_of_local.split(separator)[-1] == "ERRORS"
    again = ValidationJob(
        sources=sources_of([str(tmp_path / "spark" / "rejected.csv")]), rules=rules, out=tmp_path, encoding=encoding
    )
    assert engine("local").validate(again, lambda words: None).report.counts == found["local"].report.counts


def _lines(files: Sequence[Path], encoding: str, *, header: bool = True) -> list[str]:
    first = None if header else 1
    return [line for file in files for line in file.read_bytes().decode(encoding).splitlines()[first:]]


@pytest.mark.long
@pytest.mark.usefixtures("spark", "uncompiled")
@pytest.mark.parametrize(
    ("text", "decimal"),
    [
        ('SEX,OBS_VALUE,TIME_PERIOD,INDICATOR,FREQ,REF_AREA\nQ,"5,0",2020,UNE_R,A,LU\n', ","),
        ("DATAFLOW,SEX: Sex,OBS_VALUE,TIME_PERIOD\nKR_DEMO:LABOUR(1.0),Q: What,5,2020\n", "."),
    ],
    ids=["decimal commas", "labels"],
)
def test_rejected_rows_with_cells_that_are_read_otherwise_are_sdmx_csv(
    demo: Snapshot, tmp_path: Path, text: str, decimal: str
) -> None:
    """On Spark, rejected rows are SDMX-CSV if the values of a frame are not the cells of the file."""
    rules = compile_rules(Structures(demo), "KR_DEMO:LABOUR(1.0)")
    (tmp_path / "data.csv").write_text(text)
    job = ValidationJob(sources=sources_of([str(tmp_path / "data.csv")]), rules=rules, out=tmp_path, decimal=decimal)
    assert engine("spark").validate(job, lambda words: None).rejected_rows == 1
    header, row = _lines(sorted((tmp_path / "rejected.csv").glob("part-*.csv")), "utf-8")
    assert header.startswith("STRUCTURE,STRUCTURE_ID,ACTION,")
    assert "Q" in row.split(",")


@pytest.mark.long
@pytest.mark.usefixtures("spark", "uncompiled")
def test_several_values_in_languages_are_written_alike(tmp_path: Path) -> None:
    """An attribute with several values in several languages each, as SDMX-ML 3.0 has them, is read and written."""
    notes = attribute("NOTE", of_text(), occurs='maxOccurs="unbounded"')
    rules = rules_of(version_of(structure(dimension("ID", of_text()), notes)))
    values = "".join(
        f'<Value><c:Text xml:lang="en">{one}</c:Text><c:Text xml:lang="fr">{other}</c:Text></Value>'
        for one, other in (("a", "b;c"), ("d", "e"))
    )
    (tmp_path / "data.xml").write_text(
        f'<m:StructureSpecificData xmlns:m="{BASE}/v3_0/message" xmlns:c="{BASE}/v3_0/common"><m:Header/><m:DataSet>'
        f'<Obs ID="1"><Comp id="NOTE">{values}</Comp></Obs><Obs ID="2" NOTE="f"/></m:DataSet></m:StructureSpecificData>'
    )
    sources = sources_of([str(tmp_path / "data.xml")])
    written = {}
    for name in ("local", "spark"):
        job = ValidationJob(sources=sources, rules=rules, out=tmp_path / name)
        job.out.mkdir()
        engine(name).validate(job, lambda words: None)
        written[name] = read_sdmx_csv(job.out / "good.csv").sort("ID").to_dicts()
    assert written["spark"] == written["local"]
    assert [one["text"] for one in written["local"][0]["NOTE"][0]] == ["a", "b;c"]
