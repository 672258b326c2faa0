"""A real Kafka broker in its own process, for demos and tests."""

from __future__ import annotations

import os
import signal
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Self

from kafka_replica.embedded import config, ports, wire
from kafka_replica.embedded.class_archive import class_archive_options
from kafka_replica.embedded.errors import EmbeddedKafkaError
from kafka_replica.embedded.install import ensure_kafka
from kafka_replica.embedded.java import find_java
from kafka_replica.embedded.launch import BrokerOptions, Launcher, log_end
from kafka_replica.embedded.process import SupervisorProcess
from kafka_replica.embedded.users import check_users, user_config

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

_GRACE_S = 15.0
_TRIES = 5


class LocalKafka:
    """Apache Kafka as a single process (broker and controller), listening only on the loopback address.

    Use it in a ``with`` block, or call `start` and `stop`. A stopped broker can be started again; it then has the
    same port and, with a `data_dir`, the same data and cluster id. A broker never outlives the process that started
    it, however that process ends, unless `detach` was called.

    Args:
        port: the port for clients; None chooses a free port, which remains the same for the lifetime of this object.
        data_dir: the folder in which to keep the data; None uses a temporary folder, removed when the broker stops.
        settings: settings of the broker that override the defaults, such as ``{"log.cleaner.backoff.ms": 100}``.
        jvm_options: options of the Java virtual machine that override the defaults.
        heap_mb: the maximum size of Java's heap, in MB.
        log_level: the level of the broker's log file: ``"WARN"``, ``"INFO"``, ``"DEBUG"`` and so on.
        format_options: options for Kafka's storage tool when the data folder is formatted (for example
            ``["--add-scram", "SCRAM-SHA-512=[name=a,password=b]"]``); they make the first start 1 s slower.
        start_timeout_s: the time that `start` waits for the broker to answer, in seconds, not counting the first
            download of Kafka.
        users: the names and passwords of users, who log in at a port of their own (SASL PLAIN, see `user_config`) and
            may do what Kafka's ACLs allow them. Clients of the other port need no login, and may do everything.
        progress: is called with short messages during the first download of Kafka.
    """

    def __init__(
        self,
        *,
        port: int | None = None,
        data_dir: str | os.PathLike[str] | None = None,
        settings: Mapping[str, object] | None = None,
        jvm_options: Sequence[str] = (),
        heap_mb: int = 256,
        log_level: str = "WARN",
        format_options: Sequence[str] = (),
        start_timeout_s: float = 60.0,
        users: Mapping[str, str] | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        if port is not None and port not in range(1, 65536):
            raise EmbeddedKafkaError(
                f"setting up the embedded Kafka: port={port!r} is not possible; use 1 to 65535, or None"
            )
        check_users(users or {}, settings or {})
        self._requested_port = port
        self._ports: ports.Ports | None = None
        self._kept = None if data_dir is None else Path(data_dir).expanduser().absolute()
        self._options = BrokerOptions(
            settings=dict(settings or {}), jvm_options=tuple(jvm_options), heap_mb=heap_mb, log_level=log_level,
            format_options=tuple(format_options), start_timeout_s=start_timeout_s, users=dict(users or {}),
        )  # fmt: skip
        self._progress = progress
        self._supervised: SupervisorProcess | None = None
        self._pid: int | None = None
        self._finalizer: weakref.finalize[[SupervisorProcess, float], LocalKafka] | None = None

    @property
    def bootstrap_servers(self) -> str:
        """The address for clients, ``"127.0.0.1:<port>"``; raises EmbeddedKafkaError if the port is not known yet."""
        return f"{ports.LOOPBACK}:{self.port}"

    @property
    def port(self) -> int:
        """The port for clients; raises EmbeddedKafkaError before the first start if no port was given."""
        if self._ports is not None:
            return self._ports.clients
        if self._requested_port is not None:
            return self._requested_port
        raise EmbeddedKafkaError("the embedded Kafka has no address before it is started; call start() first")

    def user_config(self, user: str) -> dict[str, str]:
        """Return the connection properties with which a client logs in as one of the `users`.

        They are librdkafka's: for a replica, a producer of this package, or any confluent-kafka client.

        Raises:
            EmbeddedKafkaError: there is no such user, or the broker has not been started yet.
        """
        return user_config(self._ports, self._options.users, user)

    @property
    def pid(self) -> int | None:
        """The process id of the broker; None before `start`, and after `stop` or `kill`."""
        return self._pid

    @property
    def supervisor_pid(self) -> int:
        """The process id of the broker's supervisor; raises EmbeddedKafkaError if it is not running."""
        return self._running().pid

    @property
    def data_dir(self) -> Path:
        """The folder of the broker with data, settings and log; raises EmbeddedKafkaError if there is no folder."""
        return self._kept if self._kept is not None else self._running().folder

    @property
    def log_path(self) -> Path:
        """The file with the broker's output; raises EmbeddedKafkaError if there is no folder."""
        return self.data_dir / "broker.log"

    @property
    def cluster_id(self) -> str:
        """The id of the cluster; raises EmbeddedKafkaError before the first start."""
        meta = self.data_dir / config.DATA_FOLDER / "meta.properties"
        if not meta.is_file():
            raise EmbeddedKafkaError("the embedded Kafka has no cluster id before it is started; call start() first")
        return config.read_cluster_id(meta)

    def start(self) -> Self:
        """Start the broker and return once it answers; Kafka is downloaded first if it is not in the cache.

        This does nothing if the broker is running. After `kill`, the broker restarts with the same data and port.

        Raises:
            MissingExtraError: a package of the extra ``embedded`` is not installed.
            EmbeddedKafkaError: there is no Java, Kafka cannot be downloaded, the port or the folder is in use, or the
                broker did not start; in this case, the message contains the end of its log.
        """
        if self.is_running():
            return self
        java = find_java()
        installation = ensure_kafka(self._progress)
        quick = class_archive_options(java, installation, self._progress)
        fresh = self._supervised is None
        if self._supervised is None:
            self._supervised = SupervisorProcess(self._kept, _GRACE_S)
            self._finalizer = weakref.finalize(self, SupervisorProcess.quit, self._supervised, _GRACE_S)
        launcher = Launcher(java, installation, self._options, self._supervised, quick)
        try:
            for left in reversed(range(_TRIES)):
                chosen = self._choose_ports()
                self._pid = launcher.launch(chosen, last=left == 0)
                if self._pid is not None:
                    self._ports = chosen
                    break
        except BaseException:
            if fresh:
                self.stop()
            else:
                self.kill()
            raise
        return self

    def stop(self) -> None:
        """Stop the broker and remove its temporary data folder, if any. Idempotent."""
        supervised, self._supervised, self._pid = self._supervised, None, None
        if self._finalizer is not None:
            self._finalizer.detach()
        if supervised is not None:
            supervised.quit(_GRACE_S if self._kept is not None else 0.0)

    def restart(self) -> Self:
        """Shut the broker down cleanly, and start it again with the same port and data; see `start` for the errors."""
        self._running().stop_broker(_GRACE_S)
        self._pid = None
        return self.start()

    def kill(self) -> None:
        """Kill the broker with SIGKILL, like a crash; its data remain for `start`, until `stop` removes them."""
        if self._supervised is not None:
            self._supervised.stop_broker(0.0)
            self._pid = None

    def pause(self) -> None:
        """Freeze the broker (SIGSTOP): connections stay open, but the broker does not answer."""
        self._running().signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Resume a frozen broker (SIGCONT)."""
        self._running().signal(signal.SIGCONT)

    def is_running(self) -> bool:
        """Return whether the broker's process exists, frozen or not."""
        return self._supervised is not None and self._pid is not None and self._supervised.exit_status() is None

    def detach(self) -> None:
        """Let the broker outlive this process; from then on, SIGTERM to `supervisor_pid` ends it.

        Afterwards, this object no longer controls the broker.
        """
        self._running().detach()
        if self._finalizer is not None:
            self._finalizer.detach()
        self._supervised, self._pid = None, None

    def create_topic(
        self, name: str, partitions: int = 1, config: Mapping[str, object] | None = None, timeout_s: float = 20.0
    ) -> str:
        """Create a topic and wait until every partition has a leader; return the name.

        Args:
            name: the name of the topic.
            partitions: the number of partitions.
            config: settings of the topic, such as ``{"cleanup.policy": "compact"}``.
            timeout_s: the maximum time to wait, in seconds.

        Raises:
            EmbeddedKafkaError: the broker refused (the message gives the reason) or does not answer.
        """
        wire.create_topic(ports.LOOPBACK, self.port, name, partitions, config or {}, timeout_s)
        return name

    def delete_topic(self, name: str, timeout_s: float = 20.0) -> None:
        """Delete a topic, if it exists.

        Args:
            name: the name of the topic.
            timeout_s: the maximum time to wait, in seconds.

        Raises:
            EmbeddedKafkaError: the broker refused (the message gives the reason) or does not answer.
        """
        wire.delete_topic(ports.LOOPBACK, self.port, name, timeout_s)

    def log_tail(self, lines: int = 25) -> str:
        """Return the last lines of the broker's log without stack frames; empty if the log is empty."""
        return log_end(self.log_path, lines)

    def __enter__(self) -> Self:
        """Start the broker."""
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the broker."""
        self.stop()

    def __repr__(self) -> str:
        if self._pid is None:
            return f"<LocalKafka {'stopped' if self._ports else 'not started'}>"
        return f"<LocalKafka {self.bootstrap_servers}, process {self._pid}>"

    def _running(self) -> SupervisorProcess:
        if self._supervised is None:
            raise EmbeddedKafkaError("the embedded Kafka is not running; call start() first")
        return self._supervised

    def _choose_ports(self) -> ports.Ports:
        """Return the ports for the next start: those for clients and for users stay the same, if they are known."""
        clients = self._port(self._requested_port if self._ports is None else self._ports.clients)
        users = self._port(self._ports and self._ports.users, clients) if self._options.users else None
        return ports.Ports(clients, ports.choose_port(but=(clients, users or clients)), users)

    def _port(self, fixed: int | None, *but: int) -> int:
        if fixed is None:
            return ports.choose_port(but=but)
        if not ports.is_free(fixed):
            raise EmbeddedKafkaError(
                f"while starting Kafka: port {fixed} on {ports.LOOPBACK} is in use; "
                "stop the program that listens there, or choose another port (by default a free one)"
            )
        return fixed
