"""Jobs on the local engine in batches: their results do not depend on where batches end."""

from __future__ import annotations

import random
from itertools import count
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica.cli.structure_source import snapshot_of_files
from kafka_replica.data.jobs import MappingJob, ValidationJob, sources_of
from kafka_replica.data.polars import report as report_of
from kafka_replica.data.polars import split, validate
from kafka_replica.data.polars.datasets import write_sdmx_csv
from kafka_replica.data.polars.datasets.reading import read_one_sdmx_csv
from kafka_replica.data.polars.job import LocalEngine
from kafka_replica.data.polars.source_rows import BatchSize
from kafka_replica.data.validation import Rules, compile_rules, generate_rows
from kafka_replica.sdmx import Structures
from support.cli.data_runs import FLOW, SAMPLES
from support.datasets.job_results import WHOLE, results
from support.datasets.ml_messages import DSD as DSD_OF_MESSAGES
from support.datasets.ml_messages import message
from support.effort import examples, first_in_usual, spread_in_usual
from support.mapping.case_rows import mapped_rows
from support.mapping.generated_maps import made_map, made_rows
from support.mapping.map_cases import CASES as MAP_CASES
from support.mapping.map_cases import Case as MapCase
from support.mapping.maps_by_hand import plan_of
from support.mapping.several_outcomes import check_several_outcomes, several_outcomes_job
from support.rules.generated_worlds import generated_world
from support.rules.structures_by_hand import DSD, dimension, measure, rules_of, structure, table, text, version_of
from support.rules.validation_cases import CASES, Case

pytestmark = pytest.mark.thorough

LABOUR = compile_rules(Structures(snapshot_of_files((SAMPLES,))), FLOW)
VALID = generate_rows(LABOUR, 40, 1)
_NUMBERS = count()


def settings_of(out: Path) -> dict[str, Any]:
    """Return the settings of a job that writes everything that a job can write."""
    return {"out": out, "findings": out / "findings.jsonl", "ess_reports": (out / "report.ess.json",)}


def compare(folder: Path, make: Any, sizes: list[BatchSize]) -> dict[str, Any]:
    """Compare the results of jobs in batches with those of one batch, and return these."""
    wanted = results(make(folder / f"{next(_NUMBERS)}"), WHOLE)
    for size in sizes:
        found = results(make(folder / f"{next(_NUMBERS)}"), size)
        assert found == wanted, size
    return wanted


_CHANGES = {
    "SEX": ["X", "", 'a"b', "F", "M"], "TIME_PERIOD": ["2020", "2020-Q1", ""], "OBS_VALUE": ["x", "1.5", "1\n2"],
    "UNIT_MEASURE": ["", "PC", "PS"], "DECIMALS": ["1", "2", ""], "ACTION": ["D", "M", "", "Z"],
    "INDICATOR": ["~", "EMP"],    "STRUCTURE_ID": ["KR_DEMO:OTHER(1.0)"],
}  # fmt: skip
_FAULTS = st.lists(st.tuples(st.integers(0, 39), st.sampled_from(sorted(_CHANGES)), st.integers(0, 4)), max_size=12)


def made_csv(rows: list[dict[str, Any]], faults: list[tuple[int, str, int]], wrong: set[int], line_end: str) -> str:
    """Return rows as SDMX-CSV with faults, repeated rows, blank lines, and rows with a wrong number of cells."""
    names = ["STRUCTURE", "STRUCTURE_ID", "ACTION", *rows[0]]
    made = [{"STRUCTURE": "dataflow", "STRUCTURE_ID": FLOW, "ACTION": "I", **row} for row in rows]
    for place, name, which in faults:
        made[place % len(made)][name] = _CHANGES[name][which % len(_CHANGES[name])]
    lines = [",".join(names)]
    for place, row in enumerate(made):
        texts = ["" if value is None else str(value) for value in row.values()]
        cells = [f'"{text.replace(chr(34), chr(34) * 2)}"' if {'"', "\n"} & {*text} else text for text in texts]
        lines.append(
            ",".join(cells[: -2 if place % 2 else None]) + ",,x" * (place % 3) if place in wrong else ",".join(cells)
        )
        lines += [""] * (place % 17 == 3)
    return line_end.join(lines) + line_end


@pytest.mark.long
@settings(max_examples=examples(60), deadline=None)
@given(
    _FAULTS, st.lists(st.integers(0, 39), max_size=6), st.sets(st.integers(0, 39), max_size=4),
    st.sampled_from(["\n", "\r\n"]), st.sampled_from(["csv", "parquet"]), st.booleans(),
    st.sampled_from([None, 0, 3]), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]), st.integers(900, 2500),
)  # fmt: skip
def test_validation_of_csv(
    tmp_path_factory: pytest.TempPathFactory, faults: list[tuple[int, str, int]], repeated: list[int],
    wrong: set[int], line_end: str, kind: Any, in_two: bool, most: int | None, encoding: str, size: int,
) -> None:  # fmt: skip
    """Findings, their order and locations, all files and the report are those of one batch."""
    folder = tmp_path_factory.mktemp("batches")
    rows = [dict(one) for one in VALID]
    rows += [dict(rows[one]) for one in repeated]
    (folder / "a.csv").write_bytes(made_csv(rows, faults, wrong, line_end).encode(encoding))
    if in_two:
        pl.DataFrame(VALID[:9], infer_schema_length=None).write_csv(folder / "b.csv", separator=";")
    sources = sources_of([str(path) for path in sorted(folder.glob("*.csv"))])

    def job(out: Path) -> ValidationJob:
        return ValidationJob(
            sources=sources, rules=LABOUR, out_format=kind, max_findings=most, **settings_of(out)
        )  # fmt: skip

    wanted = compare(folder / "results", job, [BatchSize(bytes=size)])
    if not wrong and not in_two and "error" not in wanted:
        frame = read_one_sdmx_csv(folder / "a.csv", rules=LABOUR, encoding=None, decimal=".").values
        mine = frame.filter((pl.col("STRUCTURE_ID") == FLOW).fill_null(value=True))
        report = report_of(validate(mine, LABOUR), LABOUR)
        found = "\n".join(wanted["outcome"])
        assert f'"rows": {report.rows},' in found
        if kind == "csv":
            write_sdmx_csv(split(validate(mine, LABOUR)).good, folder / "good.csv", LABOUR)
            assert wanted["good.csv"] == (folder / "good.csv").read_bytes().split(b"\n")
        assert f'"good": {split(validate(mine, LABOUR)).good.height},' in found
        assert all(f'"count": {count}' in found for count in report.counts.values())


@pytest.mark.parametrize("case", spread_in_usual(CASES, 4), ids=[case.name for case in CASES])
def test_validation_cases(case: Case, tmp_path: Path) -> None:
    """All cases of the rules have the same findings row by row, with typed columns and lists."""
    rules = rules_of(version_of(*case.contents), case.reference, **case.settings)
    _compare_frames(table([row for row, _ in case.rows]), rules, tmp_path, 2)


@pytest.mark.parametrize("seed", first_in_usual([0, 3, 1, 2, 4, 5], 2))
def test_generated_worlds(seed: int, tmp_path: Path) -> None:
    """Structures with constraints, and rows, at random give the same results."""
    world = generated_world(seed)
    _compare_frames(world.frame, world.rules, tmp_path, 30, ["csv", "parquet"][seed % 2])


def _compare_frames(frame: pl.DataFrame, rules: Rules, folder: Path, rows: int, kind: Any = "csv") -> None:
    frame.write_parquet(folder / "data.parquet", row_group_size=max(1, frame.height))  # one batch
    sources = sources_of([str(folder / "data.parquet")])

    def job(out: Path) -> ValidationJob:
        return ValidationJob(sources=sources, rules=rules, out_format=kind, **settings_of(out))

    compare(folder / "results", job, [BatchSize(rows=rows)])


def _maps(case: MapCase) -> tuple[Any, pl.DataFrame]:
    plan = plan_of(version_of(*case.contents), **case.settings)
    return plan, table([row for row, _ in mapped_rows(case)])


@pytest.mark.parametrize("case", spread_in_usual(MAP_CASES, 4), ids=[case.name for case in MAP_CASES])
def test_map_cases(case: MapCase, tmp_path: Path) -> None:
    """All cases of maps give the same rows and findings, also for rows that become one observation."""
    plan, frame = _maps(case)
    _compare_maps(pl.concat([frame, frame.head(2)]), plan, tmp_path, 2)


@pytest.mark.parametrize("action", ["merge", "delete"])
def test_rows_without_an_action_are_written_with_that_of_the_rules(action: Any, tmp_path: Path) -> None:
    """Good rows are valid again, and a deletion does not become information."""
    rules = compile_rules(Structures(snapshot_of_files((SAMPLES,))), FLOW, action=action)
    pl.DataFrame(VALID[:2], infer_schema_length=None).drop("UNIT_MEASURE").write_csv(tmp_path / "data.csv")
    (out := tmp_path / "out").mkdir()
    job = ValidationJob(sources=sources_of([str(tmp_path / "data.csv")]), rules=rules, out=out)
    assert LocalEngine().validate(job, lambda progress: None).good_rows == 2
    good = read_one_sdmx_csv(out / "good.csv", rules=LABOUR, encoding=None, decimal=".").values
    assert set(good["ACTION"]) == {action[0].upper()}
    assert validate(good, LABOUR)["_errors"].null_count() == 2


@pytest.mark.parametrize("action", ["Append", "Delete"])
def test_messages_without_rows_and_deletions_of_all_data(action: str, tmp_path: Path) -> None:
    """Good rows are those of the message: none if it is empty, even with ``action="delete"``, one if it deletes all."""
    rules = compile_rules(Structures(snapshot_of_files((SAMPLES,))), FLOW, action="delete")
    (tmp_path / "data.xml").write_text(message("").replace('Ref="S">', f'Ref="S" ss:action="{action}"/>').replace(
        "</m:DataSet>", "").replace(DSD_OF_MESSAGES, str(rules.structure)))  # fmt: skip
    (out := tmp_path / "out").mkdir()
    job = ValidationJob(sources=sources_of([str(tmp_path / "data.xml")]), rules=rules, out=out)
    done = LocalEngine().validate(job, lambda progress: None)
    expected = [f"dataflow,{FLOW},D"] if action == "Delete" else []
    assert (done.good_rows, done.rejected_rows) == (len(expected), 0)
    assert (out / "good.csv").read_text().splitlines()[1:] == expected


@pytest.mark.parametrize("size", [WHOLE, BatchSize(bytes=20)])
def test_a_row_with_several_outcomes_is_rejected_once(size: BatchSize, tmp_path: Path) -> None:
    """A source row is counted, rejected and listed once, however many of its outcomes have the same error."""
    job = several_outcomes_job(tmp_path, tmp_path / "out")
    done = LocalEngine(size).map(job, lambda progress: None)
    check_several_outcomes(done, (job.out / "rejected.csv").read_text().splitlines()[1:])


@pytest.mark.parametrize("seed", first_in_usual(range(6), 2))
def test_generated_maps(seed: int, tmp_path: Path) -> None:
    """Maps and rows at random give the same results."""
    source = random.Random(seed)
    made = made_map(source)
    plan = plan_of(version_of(*made.contents))
    _compare_maps(table(made_rows(source, made.n_sources, 60)), plan, tmp_path, 13, ["csv", "parquet"][seed % 2])


def _compare_maps(frame: pl.DataFrame, plan: Any, folder: Path, rows: int, kind: Any = "csv") -> None:
    frame.write_parquet(folder / "data.parquet")
    sources = sources_of([str(folder / "data.parquet")])
    rules = rules_of(version_of(structure(dimension("ID", text()), measure())), DSD)

    def job(out: Path) -> MappingJob:
        return MappingJob(
            sources=sources, rules=rules, target=rules, plan=plan, out_format=kind, **settings_of(out)
        )  # fmt: skip

    compare(folder / "results", job, [BatchSize(rows=rows)])
