"""A registry of brokers that outlive the command that started them, with a small file for each broker."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import signal
import time
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafka_replica.common.wording import reason_of
from kafka_replica.embedded import ports, wire
from kafka_replica.embedded.cache import STATE_VARIABLE, locked, os_errors_translated, state_dir
from kafka_replica.embedded.errors import EmbeddedKafkaError

if TYPE_CHECKING:
    from kafka_replica.embedded.local import LocalKafka

# Longer than the time that a broker with permanent data has to stop.
_STOP_TIMEOUT_S = 40.0
NAME_RULE = "use up to 64 letters, digits, dashes and underscores"
"""The rule for the names of brokers."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A started broker; ``requested`` has the user's choices (port, data, settings)."""

    name: str
    bootstrap_servers: str
    port: int
    pid: int | None
    supervisor_pid: int
    cluster_id: str
    data_dir: str
    log_path: str
    requested: dict[str, Any]

    def public_fields(self) -> dict[str, Any]:
        """Return the fields that the commands print as JSON for scripts."""
        fields = asdict(self)
        del fields["requested"], fields["supervisor_pid"]
        return fields

    def is_alive(self) -> bool:
        """Return whether the supervisor is alive, which the lock that it holds shows; its process id could be reused.

        The lock file may be missing although the supervisor is alive, because a cleaner of temporary files has removed
        it, or it may belong to another user. Then the supervisor counts as alive if its broker answers with its
        cluster id, or if the broker cannot be identified (because it requires encryption, for example, or is slow) and
        the supervisor's process id is in use.
        """
        try:
            file = os.open(Path(self.data_dir) / "in-use.lock", os.O_RDWR)
        except OSError:
            return self._broker_answers()
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(file)
        return False

    def _broker_answers(self) -> bool:
        try:
            return wire.query_cluster(ports.LOOPBACK, self.port).cluster_id == self.cluster_id
        except ConnectionRefusedError:
            return False
        except (OSError, ValueError):
            return _is_process(self.supervisor_pid)

    def answers(self, timeout_s: float = 5.0) -> bool:
        """Return whether the broker answers within `timeout_s` seconds."""
        try:
            return wire.query_cluster(ports.LOOPBACK, self.port, timeout_s=timeout_s).cluster_id == self.cluster_id
        except ValueError:
            # The broker requires encryption or authentication, so it is running.
            return True
        except OSError:
            return False


class Registry:
    """The registry of a user's started brokers, stored in files.

    Raises:
        MissingExtraError: platformdirs is not installed.
    """

    def __init__(self) -> None:
        self._folder = state_dir() / "brokers"

    def changing(self, name: str) -> AbstractContextManager[None]:
        """Return the lock to hold while a broker is started or stopped, so that two commands do not interfere."""
        doing = f"starting or stopping the broker {name!r}"
        return locked(self._path(name).with_suffix(".lock"), doing=doing, setting=STATE_VARIABLE)

    def find(self, name: str) -> Entry | None:
        """Return the running broker of a name, or None; the entry of a broker that has ended is removed.

        Raises:
            EmbeddedKafkaError: the name is invalid, or its file cannot be read.
        """
        path = self._path(name)
        try:
            entry = Entry(**json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError) as error:
            raise EmbeddedKafkaError(
                f"while looking for the broker {name!r}: {path} cannot be read ({reason_of(error)}); remove that file, "
                "and end the broker by its process id if it still runs"
            ) from error
        if entry.is_alive():
            return entry
        self.remove(name)
        return None

    def running(self) -> list[Entry]:
        """Return the running brokers, sorted by name, without entries that cannot be read."""
        found = []
        for path in sorted(self._folder.glob("*.json")):
            with contextlib.suppress(OSError, ValueError, TypeError):
                entry = Entry(**json.loads(path.read_text(encoding="utf-8")))
                if entry.is_alive():
                    found.append(entry)
        return found

    def add(self, name: str, kafka: LocalKafka, requested: dict[str, Any]) -> Entry:
        """Register a running broker.

        Raises:
            EmbeddedKafkaError: the file cannot be written.
        """
        entry = Entry(
            name, kafka.bootstrap_servers, kafka.port, kafka.pid, kafka.supervisor_pid, kafka.cluster_id,
            str(kafka.data_dir), str(kafka.log_path), requested,
        )  # fmt: skip
        path = self._path(name)
        with os_errors_translated(f"remembering the broker {name!r}", path, STATE_VARIABLE):
            path.parent.mkdir(parents=True, exist_ok=True)
            fresh = path.with_suffix(".new")
            fresh.write_text(json.dumps(asdict(entry)), encoding="utf-8")
            fresh.replace(path)
        return entry

    def stop(self, entry: Entry) -> None:
        """Stop a broker and wait until it has ended.

        Raises:
            EmbeddedKafkaError: the broker belongs to another user, or did not end in time.
        """
        try:
            os.kill(entry.supervisor_pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
        except PermissionError as error:
            raise EmbeddedKafkaError(
                f"while stopping the broker {entry.name!r}: process {entry.supervisor_pid} belongs to another user; "
                "stop it as that user"
            ) from error
        deadline = time.monotonic() + _STOP_TIMEOUT_S
        while entry.is_alive():
            if time.monotonic() > deadline:
                raise EmbeddedKafkaError(
                    f"while stopping the broker {entry.name!r}: process {entry.pid} has not ended within "
                    f"{_STOP_TIMEOUT_S:.0f} s; see {entry.log_path}, or end it with kill -9 {entry.pid}"
                )
            time.sleep(0.05)
        self.remove(entry.name)

    def remove(self, name: str) -> None:
        """Remove the entry of a broker."""
        self._path(name).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        if not is_name(name):
            raise EmbeddedKafkaError(f"{name!r} is not a valid name of a broker; {NAME_RULE}")
        return self._folder / f"{name}.json"


def _is_process(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it belongs to another user
        return True
    return True


def is_name(text: str) -> bool:
    """Return whether a text is a valid name of a broker."""
    return re.fullmatch(r"[A-Za-z0-9_-]{1,64}", text) is not None
