"""Reports on findings: the page, the list of all findings, and the report of the European Statistical System.

    python -m benchmarks.programs.reports FINDINGS

The program prints the seconds of wall and processor time for each, from a validated frame to the file on disk.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import polars as pl

from benchmarks.programs.common import tell
from kafka_replica.cli.structure_source import snapshot_of_files
from kafka_replica.data.jobs import Outcome, report_page
from kafka_replica.data.polars import validate, write_findings
from kafka_replica.data.polars.ess_report import write_ess_report
from kafka_replica.data.polars.finding_tables import LOCATION_TYPES
from kafka_replica.data.polars.reports import ValidationFindings, with_dataset_findings
from kafka_replica.data.validation import compile_rules, generate_rows
from kafka_replica.sdmx import Structures
from kafka_replica.sdmx.samples import sample_files

_ONE_PER_ROW: Final = {"duplicate-key": "off", "attribute-differs": "off"}
_VALID: Final = 2_000


def _main(findings: int, folder: Path) -> None:
    rules = compile_rules(
        Structures(snapshot_of_files((sample_files()[0].parent,))), "KR_DEMO:LABOUR(1.0)", rules=_ONE_PER_ROW
    )
    valid = pl.DataFrame(generate_rows(rules, _VALID, 1), infer_schema_length=None)
    number = pl.int_range(pl.len())
    frame = pl.concat([valid] * -(-findings // _VALID)).head(findings).with_columns(SEX=pl.format("X{}", number % 50))
    checked = validate(frame, rules)
    places = pl.select(row=pl.int_range(1, findings + 1, dtype=pl.UInt32)).select(
        file=pl.lit("data.csv"), line=pl.col("row") + 1, row="row", part=pl.lit(None, pl.String),
        part_row=pl.lit(None, LOCATION_TYPES["part_row"]),
        path=pl.lit(None, LOCATION_TYPES["path"]),
    )  # fmt: skip

    def page() -> None:
        report = ValidationFindings(checked, rules, places).report()
        (folder / "report.html").write_text(report_page(Outcome(report, 0, findings)))

    def listed() -> None:
        found = ValidationFindings(checked, rules, places)
        write_findings(with_dataset_findings(found.rows.table(), found.dataset), folder / "findings.csv")

    def ess() -> None:
        found = ValidationFindings(checked, rules, places)
        table = with_dataset_findings(found.rows.table(), found.dataset)
        write_ess_report(folder / "report.ess.json", table, found.report(), rules)

    total = sum(ValidationFindings(checked, rules).report().counts.values())
    tell(findings=total, page=_seconds(page), listed=_seconds(listed), ess=_seconds(ess))


def _seconds(work: Callable[[], None]) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        _main(int(sys.argv[1]), Path(place))
