"""A real PostgreSQL: a separate cluster in a temporary folder, on a free port of the loopback address."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from kafka_replica.demo.output import DemoError
from kafka_replica.embedded.ports import choose_port

_START_TIMEOUT_S = 60
_OLDEST = (10,)  # the first version with identity columns
_INSTALLED = (  # of Debian, of PostgreSQL's packages for Red Hat, and of Homebrew: none of them is on the path
    ("/usr/lib/postgresql", "*/bin"), ("/usr", "pgsql-*/bin"),
    ("/opt/homebrew/opt", "postgresql@*/bin"), ("/usr/local/opt", "postgresql@*/bin"),
)  # fmt: skip


def find_binaries() -> Path | None:
    """Return the folder of initdb and postgres: that on the path, or else the newest installed; None without either."""
    on_path = shutil.which("initdb")
    folders = [Path(on_path).resolve().parent] if on_path else []
    installed = [path for parent, pattern in _INSTALLED for path in Path(parent).glob(pattern)]
    folders += sorted((path for path in installed if _version(path) >= _OLDEST), key=_version, reverse=True)
    return next((folder for folder in folders if (folder / "postgres").exists()), None)


def _version(binaries: Path) -> tuple[int, ...]:
    """Return the version in the name of a folder, such as (17,) for ``/usr/lib/postgresql/17/bin``."""
    return tuple(map(int, re.findall(r"\d+", binaries.parent.name)))


class LocalPostgres:
    """A PostgreSQL server with the database ``postgres`` and the user ``app``; it runs during a ``with`` block.

    PostgreSQL refuses to run as root. If this process runs as root, the server runs as the user postgres, which
    Debian's packages create.

    Args:
        binaries: the folder of initdb and postgres.
        durable: whether a commit waits for the disk. Killing the server loses no commit in either case.

    Raises:
        DemoError: the files of the server cannot be created.
    """

    def __init__(self, binaries: Path, *, durable: bool = False) -> None:
        self.binaries = binaries
        self._durable = durable
        # Not in a folder of pytest, because these are not accessible to other users.
        self.folder = Path(tempfile.mkdtemp(prefix="kafka-replica-postgres-"))
        self.folder.chmod(0o755)
        self._data = self.folder / "data"
        self._data.mkdir()
        self._run_as: list[str] = []
        self.port = choose_port()
        self.password = secrets.token_hex(8)
        self.process: subprocess.Popen[bytes] | None = None
        try:
            self._init()
        except BaseException:
            self.stop()
            raise

    def _init(self) -> None:
        if os.geteuid() == 0:
            try:
                shutil.chown(self._data, "postgres", "postgres")
            except LookupError as error:
                raise DemoError(
                    f"PostgreSQL cannot run as root, and there is no user postgres to run it as: {error}"
                ) from error
            self._run_as = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        self._data.chmod(0o700)
        secret = self.folder / "secret"
        secret.write_text(self.password)
        secret.chmod(0o644)
        options = ["-U", "app", f"--pwfile={secret}", "-A", "scram-sha-256", "--no-sync", "-E", "UTF8", "--locale=C"]
        command = [*self._run_as, str(self.binaries / "initdb"), "-D", str(self._data), *options]
        done = subprocess.run(command, check=False, capture_output=True, cwd="/")
        if done.returncode:
            raise DemoError(f"PostgreSQL's initdb failed: {done.stderr.decode(errors='replace').strip()}")

    def start(self) -> None:
        """Start the server, and wait until it accepts connections.

        Raises:
            DemoError: the server does not accept connections in time.
        """
        self.process = self._run()
        give_up_s = time.monotonic() + _START_TIMEOUT_S
        while not self.accepts_connections():
            if time.monotonic() > give_up_s:
                raise DemoError(f"PostgreSQL did not start: {(self.folder / 'log').read_text()}")
            if self.process.poll() is not None:  # because children of a killed server keep its memory for a moment
                self.process = self._run()
            time.sleep(0.1)

    def accepts_connections(self) -> bool:
        """Return whether the server accepts connections."""
        command = [str(self.binaries / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(command, check=False, capture_output=True, cwd="/").returncode == 0

    def _run(self) -> subprocess.Popen[bytes]:
        settings = {
            "listen_addresses": "127.0.0.1", "unix_socket_directories": "", "shared_buffers": "32MB",
            "fsync": "on" if self._durable else "off",
            "max_connections": "100", "wal_level": "logical",
        }  # fmt: skip
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        command = [str(self.binaries / "postgres"), "-D", str(self._data), "-p", str(self.port), *options]
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen([*self._run_as, *command], stdout=log, stderr=log, cwd="/")

    def kill(self) -> None:
        """Kill the server with SIGKILL; its child processes end when they notice this."""
        if self.process is None:
            return
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process = None

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End the server, and remove its files."""
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)  # fast shutdown
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def default_url(self) -> str:
        """The URL of the database ``postgres``."""
        return f"postgresql://app:{self.password}@127.0.0.1:{self.port}/postgres"
