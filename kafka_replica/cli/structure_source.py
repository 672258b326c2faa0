"""Where a command takes structures from: files, or a topic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from kafka_replica.cli.options import ReplicaOptions
from kafka_replica.cli.ready import ready_replica
from kafka_replica.delta import Delta
from kafka_replica.errors import UsageError
from kafka_replica.producer.headers import CONTENT_TYPE
from kafka_replica.producer.structures import read_structures, structure_files
from kafka_replica.records import Cut, Partition, Record
from kafka_replica.sdmx import Snapshot
from kafka_replica.stores import MemoryStore

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class StructureSource:
    """Files of structures, or a topic; see the help of the options."""

    structures: tuple[Path, ...]
    bootstrap_server: str | None
    topic: str | None
    configs: tuple[str, ...]
    timeout_s: float
    store: Path | None

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """One version of the structures.

        Raises:
            UsageError: neither files nor a topic, or both.
            KafkaReplicaError: they cannot be read.
        """
        if bool(self.structures) == (self.topic is not None):
            raise UsageError(
                "say where structures are: --structures PATH, or --bootstrap-server and --topic; one of them"
            )
        if self.topic is None:
            yield snapshot_of_files(self.structures)
            return
        options = ReplicaOptions(
            self.bootstrap_server, self.topic, self.configs, self.timeout_s, "auto", self.store, (), "stop", None
        )
        with ready_replica(options) as replica:
            yield replica.snapshot()


_OPTIONS = (
    click.option(
        "--store", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", envvar="KAFKA_REPLICA_STORE",
        help="Keep the replica in this folder (RocksDB); the next command goes on where this one was.",
    ),
    click.option("--timeout-s", type=click.FloatRange(min=0), default=60.0, show_default=True,
                 help="How long to wait for Kafka, in seconds."),
    click.option(
        "--config", "configs", multiple=True, metavar="FILE|KEY=VALUE",
        help="librdkafka properties: a file of KEY=VALUE lines, or one property. Repeatable; later ones win.",
    ),
    click.option("--topic", envvar="KAFKA_REPLICA_TOPIC", help="The topic of structures."),
    click.option("--bootstrap-server", envvar="KAFKA_REPLICA_BOOTSTRAP_SERVERS", metavar="HOST:PORT[,...]",
                 help="The brokers to begin with."),
    click.option(
        "--structures", multiple=True, type=click.Path(exists=True, path_type=Path), metavar="PATH",
        help="Structure files, or folders of them, instead of a topic. Repeatable.",
    ),
)  # fmt: skip


def structure_options(command: F) -> F:
    """The options; the command gets them as one ``source``."""
    names = [field.name for field in fields(StructureSource)]

    @wraps(command)
    def with_source(**given: Any) -> Any:
        values = {name: given.pop(name) for name in names}
        if values["structures"]:
            values["topic"] = None  # it may come from the environment
        return command(source=StructureSource(**values), **given)

    wrapped: Any = with_source
    for option in _OPTIONS:
        wrapped = option(wrapped)
    return wrapped  # type: ignore[no-any-return]


def snapshot_of_files(paths: tuple[Path, ...]) -> Snapshot:
    """Version 1 of a store that holds what is in structure files; in folders, files that are none are passed over.

    Raises:
        SdmxError: a file that was named is no structure message.
        UsageError: nothing was found.
    """
    named = [path for path in paths if not path.is_dir()]
    found = read_structures(named)
    among = read_structures(structure_files(path for path in paths if path.is_dir()), skip_unreadable=True)
    for file, why in among.left_out.items():
        click.echo(f"kafka-replica: {file} is passed over: {why}", err=True)
    parts = among.parts | found.parts
    if not parts:
        raise UsageError(f"no structures were found in {', '.join(map(str, paths))}")
    place = Partition("structure files", 0)
    records = [
        Record(bytes(part.urn), part.value, offset, -1, ((CONTENT_TYPE, part.content_type.encode()),), place)
        for offset, part in enumerate(parts.values())
    ]
    store = MemoryStore()
    store.apply(Delta(records), Cut({place: len(records)}))
    return store.snapshot()
