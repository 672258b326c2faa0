"""Write the configuration files of a broker: server.properties, meta.properties in its data folder, and logging."""

from __future__ import annotations

import base64
import uuid
from typing import TYPE_CHECKING

from kafka_replica.embedded.errors import EmbeddedKafkaError
from kafka_replica.embedded.ports import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# Settings for a single node, which cannot replicate, and for tests, which should not have to wait.
DEFAULTS: Mapping[str, object] = {
    "process.roles": "broker,controller",
    "node.id": 1,
    "controller.listener.names": "CONTROLLER",
    "auto.create.topics.enable": False,
    "default.replication.factor": 1,
    "offsets.topic.replication.factor": 1,
    "offsets.topic.num.partitions": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "transaction.state.log.num.partitions": 1,
    "share.coordinator.state.topic.replication.factor": 1,
    "share.coordinator.state.topic.min.isr": 1,
    "share.coordinator.state.topic.num.partitions": 1,
    "group.initial.rebalance.delay.ms": 0,
    # After a SIGKILL, the controller accepts the broker again only when its old session has expired.
    "broker.session.timeout.ms": 2000,
    "broker.heartbeat.interval.ms": 500,
    # Without no-op records, an idle broker needs hardly any processor time; nothing monitors its metadata log.
    "metadata.max.idle.interval.ms": 0,
    "log.cleaner.backoff.ms": 200,
    "log.cleaner.dedupe.buffer.size": 8 * 1024 * 1024,
    "log.cleaner.io.buffer.size": 128 * 1024,
    # A test may open thousands of segments, and by default each would preallocate 10 MB of index on disk.
    "log.index.size.max.bytes": 1024 * 1024,
    "num.network.threads": 2,
    "num.io.threads": 4,
    "background.threads": 2,
}

# Relative to the folder in which the broker runs: Kafka would split an absolute path with a comma into two folders.
DATA_FOLDER = "data"

_LOG4J = """<?xml version="1.0" encoding="UTF-8"?>
<Configuration status="ERROR" shutdownHook="disable">
  <Appenders>
    <Console name="out"><PatternLayout pattern="%d %p [%t] %c - %m%n"/></Console>
  </Appenders>
  <Loggers>
    <Root level="LEVEL"><AppenderRef ref="out"/></Root>
  </Loggers>
</Configuration>
"""


def broker_settings(port: int, controller_port: int, chosen: Mapping[str, object]) -> dict[str, object]:
    """Return all settings of a broker; the user's `chosen` settings override the defaults of this package."""
    settings: dict[str, object] = {
        **DEFAULTS,
        "listeners": f"PLAINTEXT://{LOOPBACK}:{port},CONTROLLER://{LOOPBACK}:{controller_port}",
        "advertised.listeners": f"PLAINTEXT://{LOOPBACK}:{port}",
        "log.dirs": DATA_FOLDER,
    }
    settings.update(chosen)
    if not {"controller.quorum.voters", "controller.quorum.bootstrap.servers"} & settings.keys():
        settings["controller.quorum.voters"] = f"{settings['node.id']}@{LOOPBACK}:{controller_port}"
    return settings


def write_properties(path: Path, settings: Mapping[str, object]) -> None:
    """Write settings as a Java properties file."""
    lines = [f"{_escaped(key, key=True)}={_escaped(setting_text(value))}\n" for key, value in settings.items()]
    path.write_text("".join(lines), encoding="latin-1")


def write_logging(path: Path, level: str) -> None:
    """Write the configuration of log4j, which writes to standard output, so that the output file is the log."""
    path.write_text(_LOG4J.replace("LEVEL", level), encoding="utf-8")


def write_meta(path: Path, settings: Mapping[str, object]) -> None:
    """Write the meta.properties of a new data folder, with a new cluster id and folder id."""
    write_properties(
        path,
        {"version": 1, "cluster.id": kafka_uuid(), "node.id": settings["node.id"], "directory.id": kafka_uuid()},
    )


def read_cluster_id(meta: Path) -> str:
    """Return the cluster id in a file meta.properties.

    Raises:
        EmbeddedKafkaError: the file contains no cluster id.
    """
    for line in meta.read_text(encoding="latin-1").splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "cluster.id" and value.strip():
            return value.strip().replace("\\", "")
    raise EmbeddedKafkaError(
        f"while reading the kept data of the embedded Kafka: {meta} names no cluster; "
        "restore it from a copy, or remove the folder to begin again"
    )


def kafka_uuid() -> str:
    """Return a new id in Kafka's format: 22 characters of URL-safe base 64, not beginning with a dash."""
    while True:
        text = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not text.startswith("-"):
            return text


def setting_text(value: object) -> str:
    """Return a setting's value as Kafka expects it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _escaped(text: str, *, key: bool = False) -> str:
    out: list[str] = []
    for at, char in enumerate(text):
        if char in "\n\r\t\f\\" or (key and char in "=: #!") or (at == 0 and char in " #!"):
            out.append({"\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"}.get(char, "\\" + char))
        elif ord(char) < 32 or ord(char) > 126:
            encoded = char.encode("utf-16-be").hex()
            out += [f"\\u{encoded[i : i + 4]}" for i in range(0, len(encoded), 4)]
        else:
            out.append(char)
    return "".join(out)
