"""``kafka-replica monitoring``: rules for Prometheus and a dashboard for Grafana."""

from __future__ import annotations

from pathlib import Path

import click

from kafka_replica.cli.options import JSON
from kafka_replica.cli.output import print_json_line, print_line
from kafka_replica.errors import UsageError
from kafka_replica.metrics.dashboard import dashboard
from kafka_replica.metrics.rules_file import rules_file


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default="monitoring", metavar="[DIR]")
@click.option("--docs-url", default="", metavar="URL", help="URL of the documentation that alerts link to.")
@click.option("--overwrite", is_flag=True, help="Replace existing files with different content.")
@JSON
def monitoring(folder: Path, docs_url: str, overwrite: bool, as_json: bool) -> None:
    """Write rules for Prometheus and a dashboard for Grafana to a folder, "monitoring" by default."""
    contents = {
        folder / "kafka-replica-rules.yml": rules_file(docs_url).encode(),
        folder / "kafka-replica-dashboard.json": dashboard().encode(),
    }
    others = [path for path, content in contents.items() if path.exists() and path.read_bytes() != content]
    if others and not overwrite:
        raise UsageError(f"{others[0]} already exists with different content; use another folder or --overwrite")
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in contents.items():
        path.write_bytes(content)
    names = [path.name for path in contents]
    if as_json:
        print_json_line({"folder": str(folder), "files": names})
    else:
        print_line(f"wrote 2 files to {folder}: {', '.join(names)}")
