"""The source from which a command reads structures: files, or a topic."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from kafka_replica.cli.log_output import log_message
from kafka_replica.cli.options import (
    BOOTSTRAP_SERVER,
    CONFIG,
    STORE,
    TIMEOUT_S,
    ReplicaArguments,
    grouped_options,
    topic_names,
    topic_option,
    with_options,
)
from kafka_replica.cli.ready import ready_replica
from kafka_replica.errors import UsageError
from kafka_replica.sdmx import Snapshot
from kafka_replica.sdmx.files.structure_files import read_structures, structure_files
from kafka_replica.sdmx.lookups.file_structures import FileSnapshot


@dataclass(frozen=True)
class StructureSource:
    """The options that select structure files or a topic; see the help of the options."""

    structures: tuple[Path, ...]
    bootstrap_server: str | None
    topic: str | None
    configs: tuple[str, ...]
    timeout_s: float
    store: Path | None

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Yield one version of the structures.

        Raises:
            UsageError: neither files nor a topic were given.
            click.BadParameter: the name of the topic is not valid.
            KafkaReplicaError: the structures cannot be read.
        """
        if self.structures:  # files take precedence, because the topic may be from an environment variable
            yield snapshot_of_files(self.structures)
            return
        if self.topic is None:
            raise UsageError("structures are needed: give --structures PATH, or --topic NAME")
        topic_names(self.topic, several=False)
        options = ReplicaArguments(
            self.bootstrap_server, self.topic, self.configs, self.timeout_s, "auto", self.store, (), "stop", None
        )
        with ready_replica(options) as replica:
            yield replica.snapshot()


_OPTIONS = (
    STORE,
    TIMEOUT_S,
    CONFIG,
    topic_option(required=False, several=False),
    BOOTSTRAP_SERVER,
    click.option(
        "--structures", multiple=True, type=click.Path(exists=True, path_type=Path), metavar="PATH",
        help="Structure files, or folders of them, instead of a topic. Repeatable.",
    ),
)  # fmt: skip


def structure_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command, which receives them as the argument ``source``."""
    return with_options(_OPTIONS, grouped_options(StructureSource, "source", command))


def snapshot_of_files(paths: tuple[Path, ...]) -> Snapshot:
    """Return the artefacts in structure files as a snapshot; other files in folders are skipped.

    Files and artefacts that cannot be read are reported on stderr, and left out.

    Raises:
        SdmxError: a file that was given by its own path, and not in a folder, is not a structure message.
        UsageError: no structures were found.
    """
    named = [path for path in paths if not path.is_dir()]
    in_folders = list(structure_files(path for path in paths if path.is_dir()))
    found = read_structures([*in_folders, *named], skip_unreadable=set(in_folders) - set(named))
    for file, why in found.left_out.items():
        log_message(f"kafka-replica: {file} is left out: {why}", logging.WARNING)
    for rejected in found.rejected:
        log_message(f"kafka-replica: {rejected.file}: {rejected.error} (left out)", logging.WARNING)
    if not found.parts:
        raise UsageError(f"no structures were found in {', '.join(map(str, paths))}")
    return FileSnapshot(found.parts.values())
