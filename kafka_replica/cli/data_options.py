"""The options of commands that read data and write data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from kafka_replica.cli.structure_source import structure_options
from kafka_replica.errors import UsageError


def data_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of commands that read data and write data."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="The report as a line of JSON on stdout."),
        click.option("--report-picture", is_flag=True, help="Also draw the findings: report.svg."),
        click.option("--overwrite", is_flag=True, help="Replace what an earlier run left in the folder."),
        click.option("--encoding", help="Of text files without a byte order mark; UTF-8 if not given."),
        click.option("--decimal", default=".", show_default=True, help="What stands before decimals in SDMX-CSV."),
        click.option(
            "--format", "out_format", type=click.Choice(["csv", "parquet"]), default="csv", show_default=True,
            help="Of what is written; csv is SDMX-CSV 2.0.",
        ),
        click.option(
            "--engine", "engine_name", default="local", show_default=True, metavar="local|spark",
            help="local: polars, in this process. spark: folders of files, for data of any size.",
        ),
        click.option(
            "--rules", "severities", multiple=True, metavar="RULE=SEVERITY",
            help="Make a rule an error, a warning, information, or switch it off. Repeatable.",
        ),
        click.option(
            "--out", required=True, type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
            help="The folder for what is written.",
        ),
    ):  # fmt: skip
        command = option(command)
    return structure_options(command)


def severities_of(texts: tuple[str, ...]) -> dict[str, str] | None:
    """``RULE=SEVERITY`` as a dictionary.

    Raises:
        UsageError: one is not like that.
    """
    found: dict[str, str] = {}
    for text in texts:
        rule, equals, severity = text.partition("=")
        if not equals:
            raise UsageError(f"--rules {text!r}: say RULE=off, RULE=warning, RULE=error or RULE=information")
        found[rule.strip()] = severity.strip()
    return found or None
