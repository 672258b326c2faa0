"""``validate`` and ``map`` on files: the files written, and the exit statuses that scripts rely on."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import sys
import zipfile
from pathlib import Path

import polars as pl
import pytest

from kafka_replica.cli.structure_source import snapshot_of_files
from kafka_replica.data.polars.datasets import read_sdmx_csv, write_sdmx_csv
from kafka_replica.data.validation import Rules, compile_rules, generate_rows
from kafka_replica.sdmx import Structures
from support.cli.data_runs import FLOW, SAMPLES, Run

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def rules() -> Rules:
    """The rules of the sample dataflow."""
    return compile_rules(Structures(snapshot_of_files((SAMPLES,))), FLOW)


@pytest.fixture(scope="module")
def rows(rules: Rules) -> pl.DataFrame:
    """A hundred valid rows."""
    return pl.DataFrame(generate_rows(rules, 100, 1), infer_schema_length=None)


def test_good_data_gives_status_0(run: Run, rows: pl.DataFrame, rules: Rules, tmp_path: Path) -> None:
    """Good data gives status 0 and good.csv with all rows as valid SDMX-CSV; a second run does not overwrite it."""
    data, out = tmp_path / "data.csv", tmp_path / "out"
    write_sdmx_csv(rows, data, rules)
    where = [data, "--flow", FLOW, "--structures", SAMPLES, "--out", out]
    done = run("validate", *where, "--report-picture")
    assert done.returncode == 0, done.stderr
    assert "100 rows, 100 good, 0 rejected" in done.stdout
    assert read_sdmx_csv(out / "good.csv").drop("STRUCTURE", "STRUCTURE_ID", "ACTION").equals(rows)
    assert read_sdmx_csv(out / "rejected.csv").height == 0
    assert json.loads((out / "report.json").read_text())["is_valid"] is True
    assert "<svg" in (out / "report.svg").read_text()
    again = run("validate", *where)
    assert again.returncode == 2
    assert "--overwrite" in again.stderr
    assert run("validate", *where, "--overwrite", "--json").stdout.startswith("{")


def test_rejected_rows_give_status_3_and_reasons(run: Run, rows: pl.DataFrame, rules: Rules, tmp_path: Path) -> None:
    """Rejected rows give status 3 and reasons; plain CSV, Parquet and folders are read; a rule can be disabled."""
    bad = rows.with_columns(SEX=pl.when(pl.int_range(pl.len()) < 3).then(pl.lit("Q")).otherwise("SEX"))
    folder = tmp_path / "data"
    folder.mkdir()
    bad.head(50).write_csv(folder / "plain.csv")
    bad.tail(50).write_parquet(folder / "rest.parquet")
    where = ["--flow", FLOW, "--structures", SAMPLES, "--out", tmp_path / "out"]
    done = run("validate", folder, *where)
    assert done.returncode == 3, done.stderr
    rejected = pl.read_csv(tmp_path / "out" / "rejected.csv")
    assert rejected.columns == [*bad.columns, "ERRORS"]
    assert rejected["SEX"].to_list() == ["Q"] * 3
    assert (
        rejected["ERRORS"]
        .str.contains("error code-unknown: the value of SEX is not a code of KR_DEMO:CL_SEX", literal=True)
        .all()
    )
    assert json.loads((tmp_path / "out" / "report.json").read_text())["written_rows"] == {
        "good": 97, "rejected": 3, "of_other_structures": 0,
    }  # fmt: skip
    off = run("validate", folder, *where, "--overwrite", "--rules", "code-unknown=off", "--format", "parquet")
    assert off.returncode == 0, off.stdout
    assert pl.read_parquet(tmp_path / "out" / "good.parquet").height == 100
    assert not (tmp_path / "out" / "good.csv").exists()


def test_standard_input_and_archives(
    run: Run, rows: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Standard input and an archive of several formats are read; the separator of plain CSV is reported."""
    where = ["--flow", FLOW, "--structures", SAMPLES, "--out", tmp_path / "out", "--overwrite"]
    text = rows.write_csv(separator=";").encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(text))))
    done = run("validate", "-", *where)
    assert "100 rows, 100 good" in done.stdout, done.stderr
    assert "-: cells are separated by semicolons" in done.stderr
    with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
        archive.writestr("a.csv", rows.head(60).write_csv(separator="\t"))
        archive.writestr("b/c.parquet", _parquet(rows.tail(40)))
    done = run("validate", tmp_path / "data.zip", *where)
    assert "100 rows, 100 good" in done.stdout, done.stderr
    assert "data.zip!/a.csv: cells are separated by tabs" in done.stderr


@pytest.mark.parametrize("as_stream", [False, True])
@pytest.mark.parametrize("how", ["file", "gzip", "standard input"])
def test_arrow_files_give_the_rows_of_parquet(
    as_stream: bool, how: str, run: Run, rows: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files and streams of Arrow IPC, in columns of several types, give the rows that Parquet gives."""
    made, bad = (
        io.BytesIO(),
        rows.with_columns(SEX=pl.when(pl.int_range(pl.len()) == 7).then(pl.lit("?")).otherwise("SEX")),
    )
    typed = bad.with_columns(pl.col("FREQ").cast(pl.Categorical), pl.col("OBS_VALUE").cast(pl.Float64))
    (typed.write_ipc_stream if as_stream else typed.write_ipc)(made)
    data = tmp_path / "data.arrow"
    data.write_bytes(made.getvalue())
    if how == "gzip":
        data = tmp_path / "data.arrow.gz"
        data.write_bytes(gzip.compress(made.getvalue()))
    elif how == "standard input":
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(made.getvalue())))
    where = ["--flow", FLOW, "--structures", SAMPLES, "--overwrite", "--out"]
    done = run("validate", "-" if how == "standard input" else data, *where, tmp_path / "arrow")
    assert "100 rows, 99 good, 1 rejected" in done.stdout, done.stderr
    (tmp_path / "data.parquet").write_bytes(_parquet(typed))
    run("validate", tmp_path / "data.parquet", *where, tmp_path / "parquet")
    for name in ("good.csv", "rejected.csv"):
        assert (tmp_path / "arrow" / name).read_bytes() == (tmp_path / "parquet" / name).read_bytes()


@pytest.mark.long
def test_damaged_arrow_is_an_error(run: Run, rows: pl.DataFrame, tmp_path: Path) -> None:
    """A file that is cut off or changed anywhere gives one sentence, or its rows, and never a traceback."""
    made = io.BytesIO()
    rows.head(3).with_columns(pl.col("FREQ").cast(pl.Categorical)).write_ipc_stream(made)
    whole, data = made.getvalue(), tmp_path / "data.arrow"
    for at in range(8, len(whole), len(whole) // 40):
        for content in (whole[:at], whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :]):
            data.write_bytes(content)
            where = ["--flow", FLOW, "--structures", SAMPLES, "--overwrite", "--out", tmp_path / "out"]
            done = run("validate", data, *where)
            assert done.returncode in {0, 1, 3}
            assert "Traceback" not in done.stderr


def _parquet(frame: pl.DataFrame) -> bytes:
    made = io.BytesIO()
    frame.write_parquet(made)
    return made.getvalue()


def test_periods_as_days(run: Run, rows: pl.DataFrame, rules: Rules, tmp_path: Path) -> None:
    """Good rows have the days on which their periods begin; a rejected row keeps its period."""
    data, out = tmp_path / "data.csv", tmp_path / "out"
    wrong = pl.when(pl.int_range(pl.len()) == 7).then(pl.lit("sometime")).otherwise("TIME_PERIOD")
    write_sdmx_csv(rows.with_columns(TIME_PERIOD=wrong), data, rules)
    done = run(
        "validate", data, "--flow", FLOW, "--structures", SAMPLES, "--out", out, "--time-format", "normalized"
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    good = read_sdmx_csv(out / "good.csv")["TIME_PERIOD"]
    assert len(good) == 99
    ranges = rows["TIME_PERIOD"].str.contains("/").sum()
    assert good.str.contains(r"^\d{4}-\d{2}-\d{2}$").sum() == 99 - ranges
    assert not rows["TIME_PERIOD"].str.contains(r"^\d{4}-\d{2}-\d{2}$").any()
    assert read_sdmx_csv(out / "rejected.csv")["TIME_PERIOD"].to_list() == ["sometime"]


@pytest.mark.parametrize(
    ("arguments", "status", "expected_text"),
    [
        (["--flow", "KR_DEMO:NOTHING(1.0)"], 1, "does not contain this data structure"),
        (["--flow", "KR_DEMO:LABOR(1.0)"], 1, "did you mean KR_DEMO:LABOUR(1.0)"),
        (["--flow", FLOW, "--rules", "code-unknown"], 2, "use RULE=off"),
        (["--flow", FLOW, "--rules", "code-unknwon=off"], 2, "no such rule; did you mean 'code-unknown'"),
        (["--flow", FLOW, "--rules", "xyz=off"], 2, "no such rule; rules: column-missing, "),
        (["--flow", FLOW, "--engine", "duck"], 2, "the engine 'duck' does not exist"),
        (["--flow", FLOW, "--topic", "t", "--structures", "nowhere"], 2, "does not exist"),
    ],
)
def test_impossible_requests_write_nothing(
    arguments: list[str], status: int, expected_text: str, run: Run, rows: pl.DataFrame, tmp_path: Path
) -> None:
    """A missing structure gives status 1, wrong arguments give status 2; nothing is written."""
    data, out = tmp_path / "data.csv", tmp_path / "out"
    rows.write_csv(data)
    more = [] if "--structures" in arguments else ["--structures", SAMPLES]
    done = run("validate", data, *arguments, *more, "--out", out)
    assert done.returncode == status
    assert expected_text in done.stderr.replace("\n", " ")
    assert not (out / "good.csv").exists()


def test_lists_that_are_missing(run: Run, rows: pl.DataFrame, tmp_path: Path) -> None:
    """The error names the option that checks everything else; with it the report lists what was not checked."""
    data, out = tmp_path / "data.csv", tmp_path / "out"
    rows.with_columns(FREQ=pl.when(pl.int_range(pl.len()) == 3).then(pl.lit("?")).otherwise("FREQ")).write_csv(data)
    lacking = tmp_path / "structures"
    lacking.mkdir()
    for path in SAMPLES.glob("*.*"):
        if path.suffix in {".xml", ".json"} and not path.name.startswith("labour_codelists"):
            shutil.copy(path, lacking)
    arguments = ("validate", data, "--flow", FLOW, "--structures", lacking, "--out", out)
    done = run(*arguments)
    assert done.returncode == 1
    assert "or check everything else with --allow-missing" in done.stderr.replace("\n", " ")
    assert "KR_DEMO:CL_SEX(1.0)" in done.stderr.replace("\n", "")
    done = run(*arguments, "--allow-missing", "--json")
    report = json.loads(done.stdout)
    named = {one.partition(":")[0] for one in report["unchecked"]}
    assert {"SEX", "REF_AREA"} <= named
    assert done.returncode == (0 if "FREQ" in named else 3)
    assert report["rows"] == len(rows)


def test_rows_of_another_structure_alone(run: Run, rows: pl.DataFrame, rules: Rules, tmp_path: Path) -> None:
    """Data of another structure alone gives status 1; the error names that structure."""
    data = tmp_path / "data.csv"
    write_sdmx_csv(rows, data, rules)
    data.write_text(data.read_text().replace("KR_DEMO:LABOUR(1.0)", "KR_DEMO:OTHER(1.0)"))
    done = run("validate", data, "--flow", FLOW, "--structures", SAMPLES, "--out", tmp_path / "out")
    assert done.returncode == 1
    assert "no row belongs to it; the rows name urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow=KR_DEMO:OTHER" in (
        done.stderr
    )


def test_rejected_rows_corrected_where_they_are(run: Run, rows: pl.DataFrame, rules: Rules, tmp_path: Path) -> None:
    """Rejected rows corrected in place can be input and output at once; nothing of the old results remains."""
    data, out = tmp_path / "data.csv", tmp_path / "out"
    write_sdmx_csv(rows.with_columns(SEX=pl.lit("Q")).head(3), data, rules)
    where = ["--flow", FLOW, "--structures", SAMPLES, "--out", out]
    assert run("validate", data, *where, "--report-picture").returncode == 3
    rejected = out / "rejected.csv"
    rejected.write_text(rejected.read_text().replace(",Q,", ",F,"))
    done = run("validate", rejected, *where, "--overwrite")
    assert "3 rows, " in done.stdout, done.stderr
    assert sorted(path.name for path in out.iterdir()) == ["good.csv", "rejected.csv", "report.json"]
    assert json.loads((out / "report.json").read_text())["rows"] == 3


def test_a_run_that_fails_changes_nothing(run: Run, rows: pl.DataFrame, rules: Rules, tmp_path: Path) -> None:
    """A failed run keeps earlier results; where there were none, not even the folder remains."""
    data, out = tmp_path / "data.csv", tmp_path / "out"
    write_sdmx_csv(rows, data, rules)
    short = tmp_path / "short.csv"
    short.write_text(data.read_text() + 'dataflow,"\n')
    where = ["--flow", FLOW, "--structures", SAMPLES, "--out"]
    assert run("validate", data, *where, out).returncode == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert run("validate", short, *where, out, "--overwrite").returncode == 1
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert run("validate", short, *where, tmp_path / "new").returncode == 1
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_rejected_rows_as_data(kind: str, run: Run, rows: pl.DataFrame, rules: Rules, tmp_path: Path) -> None:
    """Rejected rows can be read as data: findings of an earlier run are not part of the rows."""
    data, out = tmp_path / "data.csv", tmp_path / "out"
    write_sdmx_csv(rows.head(3), data, rules)
    where = ["--flow", FLOW, "--structures", SAMPLES, "--format", kind, "--out"]
    off = run("validate", data, *where, out, "--action", "delete")
    assert off.returncode == 0, off.stderr
    data.write_text(data.read_text().replace(",I,", ",X,"))
    assert run("validate", data, *where, out, "--overwrite").returncode == 3
    rejected = out / f"rejected.{kind}"
    done = run("validate", rejected, *where, tmp_path / "again", "--rules", "action-unknown=off")
    assert done.returncode == 0, done.stdout + done.stderr
    good = tmp_path / "again" / f"good.{kind}"
    found = read_sdmx_csv(good) if kind == "csv" else pl.read_parquet(good)
    assert not {"ERRORS", "_errors"} & set(found.columns)


def test_map_writes_target_rows_and_unmappable_rows(run: Run, tmp_path: Path) -> None:
    """``map`` writes rows of the target, and unmappable rows unchanged."""
    base = "urn:sdmx:org.sdmx.infomodel."
    (tmp_path / "structures").mkdir()
    (tmp_path / "structures" / "map.xml").write_text(_map_message(base))
    data = tmp_path / "data.csv"
    data.write_text("STRUCTURE,STRUCTURE_ID,A,OBS_VALUE\ndatastructure,T:S(1.0),M,1\ndatastructure,T:S(1.0),Z,2\n")
    out = tmp_path / "out"
    done = run("map", data, "--map", "T:M(1.0)", "--structures", tmp_path / "structures", "--out", out)
    assert done.returncode == 3, done.stderr
    good, bad = read_sdmx_csv(out / "good.csv"), read_sdmx_csv(out / "rejected.csv")
    assert good.to_dicts() == [{
        "STRUCTURE": "datastructure", "STRUCTURE_ID": "T:G(1.0)", "ACTION": "I", "B": "MALE", "OBS_VALUE": "1",
    }]  # fmt: skip
    assert bad["A"].to_list() == ["Z"]
    assert bad["ERRORS"].to_list() == ["error unmapped-value: no rule of the map matches the value of A (Z)"]


def test_data_of_a_dataflow_of_the_data_structure(run: Run, rows: pl.DataFrame, rules: Rules, tmp_path: Path) -> None:
    """A dataflow's rows are data of its data structure; rows that are left out are named on stderr."""
    data, out = tmp_path / "data.csv", tmp_path / "out"
    write_sdmx_csv(rows, data, rules)
    (tmp_path / "other.csv").write_text("DATAFLOW,SEX\nKR_DEMO:OTHER(1.0),F\n")
    where = ["--flow", "KR_DEMO:DSD_LABOUR(1.0)", "--structures", SAMPLES, "--out", out]
    done = run("validate", data, tmp_path / "other.csv", *where)
    assert done.returncode == 0, done.stderr
    assert "100 rows, 100 good, 0 rejected" in done.stdout
    other = "urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow=KR_DEMO:OTHER(1.0)"
    assert f"rows left out: 1, which belong to {other}" in done.stderr
    report = json.loads((out / "report.json").read_text())
    assert (report["written_rows"]["of_other_structures"], report["other_structures"]) == (1, [other])


def _map_message(base: str) -> str:
    names = " ".join(
        f'xmlns:{prefix}="http://www.sdmx.org/resources/sdmxml/schemas/v3_0/{name}"'
        for prefix, name in (("m", "message"), ("s", "structure"), ("c", "common"))
    )

    def component(kind: str, id_: str) -> str:
        concept = f"{base}conceptscheme.Concept=T:CS(1.0).{id_}"
        text = '<s:LocalRepresentation><s:TextFormat textType="String"/></s:LocalRepresentation>'
        return f'<s:{kind} id="{id_}"><s:ConceptIdentity>{concept}</s:ConceptIdentity>{text}</s:{kind}>'

    def dsd(id_: str, dimension: str) -> str:
        return (
            f'<s:DataStructure agencyID="T" id="{id_}" version="1.0"><c:Name>x</c:Name><s:DataStructureComponents>'
            f'<s:DimensionList id="DimensionDescriptor">{component("Dimension", dimension)}</s:DimensionList>'
            f'<s:MeasureList id="MeasureDescriptor">{component("Measure", "OBS_VALUE")}</s:MeasureList>'
            "</s:DataStructureComponents></s:DataStructure>"
        )

    kind = "<s:SourceDataType>String</s:SourceDataType><s:TargetDataType>String</s:TargetDataType>"
    mapping = "<s:SourceValue>M</s:SourceValue><s:TargetValue>MALE</s:TargetValue>"
    return (
        f"<m:Structure {names}><m:Header><m:ID>T</m:ID><m:Test>true</m:Test>"
        "<m:Prepared>2026-01-01T00:00:00Z</m:Prepared>"
        f'<m:Sender id="T"/></m:Header><m:Structures>'
        f"<s:DataStructures>{dsd('S', 'A')}{dsd('G', 'B')}</s:DataStructures>"
        '<s:RepresentationMaps><s:RepresentationMap agencyID="T" id="R" version="1.0"><c:Name>x</c:Name>'
        f"{kind}<s:RepresentationMapping>{mapping}</s:RepresentationMapping></s:RepresentationMap></s:RepresentationMaps>"
        '<s:StructureMaps><s:StructureMap agencyID="T" id="M" version="1.0"><c:Name>x</c:Name>'
        f"<s:Source>{base}datastructure.DataStructure=T:S(1.0)</s:Source>"
        f"<s:Target>{base}datastructure.DataStructure=T:G(1.0)</s:Target>"
        "<s:ComponentMap><s:Source>A</s:Source><s:Target>B</s:Target><s:RepresentationMap>"
        f"{base}structuremapping.RepresentationMap=T:R(1.0)</s:RepresentationMap></s:ComponentMap>"
        "</s:StructureMap></s:StructureMaps></m:Structures></m:Structure>"
    )
