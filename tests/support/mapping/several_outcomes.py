"""A job that maps rows to several rows each, of which some have errors, for both engines."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from kafka_replica.data.jobs import MappingJob, Outcome, sources_of
from kafka_replica.data.validation import compile_rules
from kafka_replica.sdmx import Structures
from support.mapping.maps_by_hand import component_map, named, plan_of, representation_map, structure_map
from support.rules.structures_by_hand import version_of

_ROWS: Final = "A,X,TIME_PERIOD,OBS_VALUE\n1,,2020,4\n1,a,2021,5\n2,a,2021,6\n3,a,2022,7\n1,b,2022,8\n"
"""The first row lacks a dimension of both of its outcomes, one outcome of the second row is also that of the third."""


def several_outcomes_job(folder: Path, out: Path) -> MappingJob:
    """Return a job with the findings ``findings.csv``."""
    version = version_of(
        named("S", "A X"), named("G", "B C"), representation_map("R", "1>x", "1>y", "2>x", "3>z"),
        structure_map(component_map("A", "B", "R"), component_map("X", "C")),
    )  # fmt: skip
    plan = plan_of(version)
    source, target = (compile_rules(Structures(version), str(side.urn)) for side in (plan.source, plan.target))
    file = folder / "data.csv"
    file.write_text(_ROWS)
    out.mkdir()
    return MappingJob(
        sources=sources_of([str(file)]), rules=source, target=target, plan=plan, out=out, findings=out / "findings.csv"
    )


def check_several_outcomes(done: Outcome, rejected: list[str]) -> None:
    """Check the outcome of the job, and its rejected rows, each with its errors, in their order.

    A row is rejected and counted once if one of its outcomes has an error, and an error that several of its outcomes
    have is listed once. The other outcomes are good.
    """
    assert [line.rpartition(",")[0] for line in rejected] == ["1,,2020,4", "1,a,2021,5", "2,a,2021,6"]
    assert [line.count("error ") for line in rejected] == [1, 1, 1]
    assert (done.report.rows, done.report.bad_rows) == (5, 3)
    assert (done.good_rows, done.rejected_rows) == (4, 3)
    assert {rule: count for (rule, _, _), count in done.report.counts.items()} == {"no-output": 1, "ambiguous-key": 2}
    assert done.report.by_series == {"1.": 1, "1.a": 1, "2.a": 1}
    assert {sample.series for sample in done.report.samples} == {"1.", "1.a", "2.a"}
    assert done.listed_findings == 3
