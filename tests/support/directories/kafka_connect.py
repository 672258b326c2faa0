"""A real Kafka Connect with Debezium's connector for PostgreSQL, in a process of its own."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from chaos.postgres import LocalPostgres
from kafka_replica.embedded import EmbeddedKafkaError, ensure_kafka, find_java
from kafka_replica.embedded.cache import cache_dir, locked
from kafka_replica.embedded.download import download_jars
from kafka_replica.embedded.lockfile import read_lock
from kafka_replica.embedded.ports import choose_port
from support import waiting

_HERE = Path(__file__).parent
_UP_S = 180
wait_until = partial(waiting.wait_until, timeout_s=_UP_S)
_JSON = "org.apache.kafka.connect.json.JsonConverter"


def locked_jars(name: str) -> Path:
    """Return the folder with the jars of a lock file, downloaded once; skip the test if they cannot be had."""
    lock = _HERE / f"{name}.lock"
    jars = read_lock(lock)
    folder = cache_dir() / f"{name}-{hashlib.sha256(lock.read_bytes()).hexdigest()[:8]}"
    try:
        with locked(cache_dir() / f"{name}.lock", doing=f"fetching {name}"):
            folder.mkdir(parents=True, exist_ok=True)
            download_jars([jar for jar in jars if not jar.matches(folder / jar.file_name)], folder, lambda _: None)
    except EmbeddedKafkaError as error:
        pytest.skip(f"the jars of {name} are not there: {error}")
    return folder


class KafkaConnect:
    """A worker of Kafka Connect that writes in Kafka transactions.

    Args:
        bootstrap_servers: the broker.
        folder: for its files, such as its log.
        name: makes its topics unique.
    """

    def __init__(self, bootstrap_servers: str, folder: Path, name: str) -> None:
        plugins = folder / "plugins"
        plugins.mkdir()
        (plugins / "debezium").symlink_to(locked_jars("debezium-postgres"))
        jars = *ensure_kafka().jars, *sorted(locked_jars("kafka-connect").glob("*.jar"))
        self._port = choose_port()
        self.log = folder / "connect.log"
        settings = {
            "bootstrap.servers": bootstrap_servers,
            "group.id": name,
            "listeners": f"http://127.0.0.1:{self._port}",
            "rest.advertised.host.name": "127.0.0.1",
            "config.storage.topic": f"{name}-configs",
            "offset.storage.topic": f"{name}-offsets",
            "offset.storage.partitions": 1,
            "status.storage.topic": f"{name}-status",
            "status.storage.partitions": 1,
            **{f"{kind}.storage.replication.factor": -1 for kind in ("config", "offset", "status")},
            "exactly.once.source.support": "enabled",
            # After a kill or an outage of the broker, soon run the connectors again; by default that takes minutes.
            "session.timeout.ms": 6000,
            "heartbeat.interval.ms": 2000,
            "rebalance.timeout.ms": 6000,
            "scheduled.rebalance.max.delay.ms": 0,
            "task.shutdown.graceful.timeout.ms": 2000,
            "topic.creation.enable": "false",
            "plugin.path": plugins,
            "plugin.discovery": "only_scan",
            "key.converter": _JSON,
            "value.converter": _JSON,
        }
        config = folder / "connect.properties"
        config.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        java = [str(find_java().path), "-Xmx384m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
        class_path = os.pathsep.join(map(str, jars))
        self._command = [*java, "-cp", class_path, "org.apache.kafka.connect.cli.ConnectDistributed", str(config)]
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def start(self) -> None:
        """Start the worker, and wait until it answers."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)
        self._until(lambda: self._ask("GET", "/connectors") is not None, "Kafka Connect did not start")

    def kill(self) -> None:
        """Kill the worker with SIGKILL."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def run(self, connector: str, config: dict[str, Any]) -> None:
        """Start a connector, and wait until its task runs."""
        self._until(lambda: self._ask("PUT", f"/connectors/{connector}/config", config) is not None, "no connector")
        self._until(lambda: self.states(connector) == ["RUNNING", "RUNNING"], f"{connector} does not run")

    def remove(self, connector: str, database: LocalPostgres) -> None:
        """Remove a connector of Debezium, and its replication slot, of which a database has few."""
        self._ask("DELETE", f"/connectors/{connector}")
        slot = [slot_of(connector)]
        with database.connect("postgres") as sql:
            self._until(
                lambda: (
                    not sql.execute("SELECT FROM pg_replication_slots WHERE slot_name = %s AND active", slot).rowcount
                ),
                f"{connector} does not stop",
            )
            sql.execute(
                "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = %s", slot
            )

    def states(self, connector: str) -> list[str]:
        """Return the states of a connector and of its tasks."""
        status = self._ask("GET", f"/connectors/{connector}/status")
        return [] if status is None else [each["state"] for each in (status["connector"], *status["tasks"])]

    def restart_failed(self, connector: str) -> None:
        """Restart a connector and its tasks as far as they have failed, as an operator does after an outage."""
        if "FAILED" in self.states(connector):
            self._ask("POST", f"/connectors/{connector}/restart?includeTasks=true&onlyFailed=true")

    def trace(self, connector: str) -> str:
        """Return the error with which the task of a connector has failed."""
        status = self._ask("GET", f"/connectors/{connector}/status") or {"tasks": []}
        return "".join(task.get("trace", "") for task in status["tasks"])

    def _ask(self, method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self._port}{path}", data, {"Content-Type": "application/json"}, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return json.loads(response.read() or b"true")
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return None

    def _until(self, condition: Callable[[], bool], failure: str) -> None:
        end_s = time.monotonic() + _UP_S
        while not condition():
            if time.monotonic() > end_s or (self._process is not None and self._process.poll() is not None):
                pytest.fail(f"{failure}: {self.log.read_text(errors='replace')[-4000:]}")
            time.sleep(0.2)


def slot_of(prefix: str) -> str:
    """Return the name of a connector's replication slot."""
    return prefix.replace("-", "_")


def debezium(server: LocalPostgres, prefix: str, table: str, **more: Any) -> dict[str, Any]:
    """Return the settings of Debezium's connector for a table of a server."""
    return {
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        "tasks.max": "1",
        "database.hostname": "127.0.0.1",
        "database.port": str(server.port),
        "database.user": "app",
        "database.password": server.password,
        "database.dbname": "postgres",
        "topic.prefix": prefix,
        "plugin.name": "pgoutput",
        "slot.name": slot_of(prefix),
        "publication.name": slot_of(prefix),
        "publication.autocreate.mode": "filtered",
        "table.include.list": table,
        "exactly.once.support": "required",
        "transaction.boundary": "poll",
        "poll.interval.ms": "50",
        **more,
    }
