"""Start the broker: write its files, run its process, and wait until it answers."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kafka_replica.embedded import config, faststart, ports, wire
from kafka_replica.embedded.cache import os_errors_translated
from kafka_replica.embedded.errors import EmbeddedKafkaError
from kafka_replica.embedded.users import user_settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from kafka_replica.embedded.install import Installation
    from kafka_replica.embedded.java import Java
    from kafka_replica.embedded.process import SupervisorProcess

_POLL_INTERVAL_S = 0.02


@dataclass(frozen=True, slots=True)
class BrokerOptions:
    """The user's choices for the broker; see the arguments of LocalKafka."""

    settings: Mapping[str, object]
    jvm_options: tuple[str, ...]
    heap_mb: int
    log_level: str
    format_options: tuple[str, ...]
    start_timeout_s: float
    users: Mapping[str, str] = field(default_factory=dict, repr=False)


class Launcher:
    """A launcher of a broker with the given options, in the folder of `supervised`."""

    def __init__(
        self,
        java: Java,
        installation: Installation,
        broker_options: BrokerOptions,
        supervised: SupervisorProcess,
        quick: Sequence[str],
    ) -> None:
        self._java, self._installation, self._options = java, installation, broker_options
        self._supervised, self._quick = supervised, quick
        self._folder = supervised.folder
        self._log = self._folder / "broker.log"
        self._meta = self._folder / config.DATA_FOLDER / "meta.properties"

    def launch(self, chosen: ports.Ports, *, last: bool) -> int | None:
        """Start the broker's process, and wait until it answers.

        Args:
            chosen: the broker's ports.
            last: whether this is the last attempt, so that a port that is in use is an error.

        Returns:
            The process id; None if another process took a port after it was chosen, and ``last`` is False.

        Raises:
            EmbeddedKafkaError: the broker did not start; the message contains the end of its log.
        """
        self._prepare(chosen)
        options = [*self._quick, *self._options.jvm_options]
        log_began = self._log.stat().st_size if self._log.exists() else 0
        pid = self._supervised.start(
            faststart.broker_command(self._java, self._installation, self._folder, self._options.heap_mb, options),
            self._log,
        )
        began = time.monotonic()
        while not self._answers(chosen.clients):
            status = self._supervised.exit_status()
            if status is not None:
                tail = log_end(self._log, after=log_began)
                if "Address already in use" in tail and not last:
                    return None
                raise EmbeddedKafkaError(_end_message(status, tail, self._folder))
            if time.monotonic() - began > self._options.start_timeout_s:
                raise EmbeddedKafkaError(
                    f"while starting Kafka: no answer on {ports.LOOPBACK}:{chosen.clients} within "
                    f"{self._options.start_timeout_s:g} s; {self._advice()}, otherwise see the end of its log:\n"
                    f"{log_end(self._log, after=log_began) or '(it wrote nothing)'}"
                )
            time.sleep(_POLL_INTERVAL_S)
        return pid

    def _prepare(self, chosen: ports.Ports) -> None:
        """Write the broker's files, and format its data folder if it is new."""
        data, properties = self._folder / config.DATA_FOLDER, self._folder / "server.properties"
        given = {**user_settings(chosen, self._options.users), **self._options.settings}
        settings = config.broker_settings(chosen.clients, chosen.controller, given)
        doing = "preparing the data of the embedded Kafka"
        with os_errors_translated(doing, self._folder, "data_dir (--data) or TMPDIR"):
            config.write_properties(properties, settings)
            config.write_logging(self._folder / "log4j2.xml", self._options.log_level)
            if self._meta.is_file():
                return
            if self._options.format_options:
                cluster_id = config.kafka_uuid()
                faststart.storage_tool(
                    self._java, self._installation, properties, cluster_id, self._options.format_options
                )
                return
            data.mkdir(exist_ok=True)
            template = faststart.format_template(self._java, self._installation)
            shutil.copyfile(template, data / faststart.CHECKPOINT)
            # Written last, because its existence shows that the folder is complete.
            config.write_meta(self._meta, settings)

    @property
    def _has_own_listeners(self) -> bool:
        """True if the settings define listeners, which may encrypt, or require a login."""
        return bool({"listeners", "listener.security.protocol.map"} & self._options.settings.keys())

    def _advice(self) -> str:
        if self._has_own_listeners:
            return (
                "if the listener PLAINTEXT of these settings requires a login, leave it without one, and use users=, "
                "or a listener with another name, for clients that log in"
            )
        return "if the machine is busy, use a longer start_timeout_s"

    def _answers(self, port: int) -> bool:
        """Return whether this broker, and no other server, answers at the port as a member of its cluster."""
        try:
            answer = wire.query_cluster(ports.LOOPBACK, port)
        except OSError:
            return False
        except ValueError:
            # An answer that is not understood is expected if the settings configure encryption or authentication.
            return self._has_own_listeners
        return answer.cluster_id == config.read_cluster_id(self._meta) and bool(answer.brokers)


def log_end(path: Path, lines: int = 25, *, after: int = 0) -> str:
    """Return the last `lines` lines of a log without Java's stack frames, ignoring its first `after` bytes."""
    try:
        with path.open("rb") as file:
            file.seek(after)
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    kept = [line for line in text.splitlines() if not line.startswith(("\tat ", "\t... "))]
    return "\n".join(kept[-lines:])


def _end_message(status: int, tail: str, folder: Path) -> str:
    if "No space left on device" in tail:
        return (
            f"while starting Kafka: the disk under {folder} is full; free some space, "
            "or name a folder elsewhere with data_dir or TMPDIR"
        )
    how = f"was ended by signal {-status}" if status < 0 else f"ended with exit status {status}"
    return (
        f"while starting Kafka: the broker {how}; correct what the end of its log says and start again:\n"
        f"{tail or '(it wrote nothing)'}"
    )
