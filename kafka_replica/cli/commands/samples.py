"""``kafka-replica samples``: writes structure files and data for trying the other commands."""

from __future__ import annotations

from pathlib import Path

import click

from kafka_replica.cli.options import JSON
from kafka_replica.cli.output import print_json_line, print_line
from kafka_replica.common.wording import counted
from kafka_replica.errors import UsageError
from kafka_replica.sdmx.samples import extra_files, sample_files


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default="samples", metavar="[DIR]")
@click.option("--overwrite", is_flag=True, help="Replace existing files with different content.")
@JSON
def samples(folder: Path, overwrite: bool, as_json: bool) -> None:
    """Write sample files to a folder, "samples" by default: structures in three formats, a map, and data.

    Two rows of the data are wrong, so that "validate" has something to find.
    """
    contents = {folder / file.name: file.read_bytes() for file in (*sample_files(), *extra_files())}
    others = [path for path, content in contents.items() if path.exists() and path.read_bytes() != content]
    if others and not overwrite:
        raise UsageError(f"{others[0]} already exists with different content; use another folder or --overwrite")
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in contents.items():
        path.write_bytes(content)
    if as_json:
        print_json_line({"folder": str(folder), "files": [path.name for path in contents]})
    else:
        print_line(f"{counted(len(contents), 'file')} written to {folder}: {', '.join(path.name for path in contents)}")
