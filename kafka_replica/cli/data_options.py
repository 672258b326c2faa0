"""The options of commands that read and write data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import click

from kafka_replica.cli.numbers import Number, WholeNumber
from kafka_replica.cli.options import grouped_options, with_options
from kafka_replica.cli.structure_source import structure_options
from kafka_replica.data.jobs import check_findings_path, check_report_path, severities_of
from kafka_replica.sdmx.errors import UrnError
from kafka_replica.sdmx.urns.urn import Urn


@dataclass(frozen=True)
class DataOptions:
    """The values of the options about data; see the help of the options."""

    out: Path
    severities: tuple[str, ...]
    engine_name: str
    out_format: Any
    decimal: str
    encoding: str | None
    line_breaks: bool
    time_format: Any
    overwrite: bool
    report_picture: bool
    reports: tuple[Path, ...]
    findings: Path | None
    max_findings: int | None
    fail_on: Literal["error", "warning", "never"]
    max_error_share: float
    as_json: bool
    quiet: bool

    @property
    def job_arguments(self) -> dict[str, Any]:
        """The arguments that are common to all jobs, except the output folder."""
        return {
            "out_format": self.out_format,
            "decimal": self.decimal,
            "encoding": self.encoding,
            "line_breaks": self.line_breaks,
            "time_format": self.time_format,
            "max_findings": self.max_findings,
        }

    @property
    def rules(self) -> dict[str, str] | None:
        """The severities by rule from the options ``RULE=SEVERITY``; None if there are none.

        Raises:
            UsageError: an option does not have this form.
        """
        return severities_of(self.severities, "--rules")


def reference_option(name: str, parameter: str, explanation: str) -> Callable[..., Any]:
    """Return an option whose value is a URN, or a reference such as ``ESTAT:NA_MAIN(1.6)``."""

    def check(context: click.Context, option: click.Parameter, value: str) -> str:
        del context, option
        try:
            Urn.parse(value) if value.startswith("urn:") else Urn.of_reference("Dataflow", value)
        except UrnError as error:
            raise click.BadParameter(str(error)) from error
        return value

    return click.option(name, parameter, required=True, metavar="URN", callback=check, help=explanation)


def _findings_path(context: click.Context, option: click.Parameter, value: Path | None) -> Path | None:
    del context, option
    if value is not None:
        check_findings_path(value)
    return value


def _report_paths(context: click.Context, option: click.Parameter, value: tuple[Path, ...]) -> tuple[Path, ...]:
    del context, option
    for path in value:
        check_report_path(path)
    return tuple(dict.fromkeys(value))


def _local_folder(context: click.Context, option: click.Parameter, value: str) -> Path:
    del context, option
    if "://" in value:  # as a path, s3a://bucket/x would be a local folder of that name
        raise click.BadParameter(f"{value!r} is an address; name a local folder, and copy its files there afterwards")
    return Path(value)


_OPTIONS = (
    click.option("--json", "as_json", is_flag=True, help="Print the report as a line of JSON on stdout."),
    click.option("--quiet", is_flag=True, help="Show only errors, neither progress nor summary."),
    click.option("--report-picture", is_flag=True, help="Also draw the findings: report.svg."),
    click.option(
        "--max-error-share", type=Number(0, 1), default=0.0, show_default=True, metavar="SHARE",
        help="Accepted share of rejected rows: 0.01 is one per cent.",
    ),
    click.option(
        "--fail-on", type=click.Choice(["error", "warning", "never"]), default="error", show_default=True,
        help="Findings that make the exit status 3.",
    ),
    click.option(
        "--max-findings", type=WholeNumber(min=0), metavar="N",
        help="List no more than N findings; the report counts all of them.",
    ),
    click.option(
        "--findings", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", callback=_findings_path,
        help="List all findings with their locations in this file: .csv, .jsonl, .parquet or .xlsx.",
    ),
    click.option(
        "--report", "reports", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", multiple=True,
        callback=_report_paths,
        help="Write a report: .html, .json, or .ess.json (European Statistical System). Repeatable.",
    ),
    click.option("--overwrite", is_flag=True, help="Replace the results of an earlier run."),
    click.option(
        "--time-format", type=click.Choice(["original", "normalized"]), default="original", show_default=True,
        help="Form of periods in SDMX-CSV; normalized: the day or instant at which they begin.",
    ),
    click.option(
        "--encoding", help="Encoding of text files without a byte order mark; UTF-8 if not given.",
    ),
    click.option(
        "--decimal", default=".", show_default=True,
        help="Decimal separator of text files.",
    ),
    click.option(
        "--line-breaks", is_flag=True,
        help="Cells may contain line breaks: Spark then reads each file as a whole; local always allows them.",
    ),
    click.option(
        "--format", "out_format", type=click.Choice(["csv", "parquet"]), default="csv", show_default=True,
        help="Output format; csv is SDMX-CSV 2.0.",
    ),
    click.option(
        "--engine", "engine_name", default="local", show_default=True, metavar="local|spark",
        help="local: polars, in this process. spark: folders of files, for data of any size.",
    ),
    click.option(
        "--rules", "severities", multiple=True, metavar="RULE=SEVERITY",
        help="Set the severity of a rule to error, warning or information, or switch it off. Repeatable.",
    ),
    click.option(
        "--out", required=True, type=click.Path(file_okay=False), metavar="DIR", callback=_local_folder,
        help="Output folder.",
    ),
)  # fmt: skip


def data_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command, which receives them as ``chosen``, and the options of structures as ``source``."""
    return structure_options(with_options(_OPTIONS, grouped_options(DataOptions, "chosen", command)))
