"""A real PostgreSQL for tests, the one of `make chaos`; copies of its files as backups, and asynchronous standbys."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from chaos.postgres import LocalPostgres, find_binaries

__all__ = [
    "LocalPostgres",
    "back_up",
    "find_binaries",
    "promote",
    "restore",
    "running_postgres",
    "standby_of",
    "stop_replication",
]


_NO_POSTGRES = (
    "SKIPPED LOUDLY: there is no PostgreSQL: no initdb on the path or under /usr/lib/postgresql; install one "
    "(apt-get install postgresql)"
)


@contextmanager
def running_postgres() -> Iterator[LocalPostgres]:
    """Run a server; skip the test, loudly, where PostgreSQL is not installed."""
    binaries = find_binaries()
    if binaries is None:
        pytest.skip(_NO_POSTGRES)
    with LocalPostgres(binaries) as server:
        yield server


def back_up(server: LocalPostgres) -> Path:
    """Copy the files of a server, which is stopped meanwhile."""
    copy = server.folder / "copy"
    server.kill()
    subprocess.run(["cp", "-a", str(server.folder / "data"), str(copy)], check=True)
    server.start()
    return copy


def restore(server: LocalPostgres, copy: Path) -> None:
    """Continue with an earlier copy; later commits are lost."""
    server.kill()
    shutil.rmtree(server.folder / "data")
    subprocess.run(["cp", "-a", str(copy), str(server.folder / "data")], check=True)
    server.start()


def standby_of(primary: LocalPostgres) -> LocalPostgres:
    """Start an asynchronous standby: it follows by streaming replication, and no commit waits for it."""
    standby = LocalPostgres(primary.binaries)
    standby.password = primary.password
    data = standby.folder / "data"
    shutil.rmtree(data)
    primary_url = f"postgresql://app:{primary.password}@127.0.0.1:{primary.port}"
    command = [str(primary.binaries / "pg_basebackup"), "-d", primary_url, "-D", str(data), "-R", "--checkpoint=fast"]
    subprocess.run(command, check=True, cwd="/")
    if os.geteuid() == 0:
        subprocess.run(["chown", "-R", "postgres:postgres", str(data)], check=True)
    standby.start()
    return standby


def stop_replication(standby: LocalPostgres) -> None:
    """Disconnect a standby from its primary, as a network failure does: it lags from now on."""
    with standby.connect("postgres") as connection:
        connection.execute("ALTER SYSTEM SET primary_conninfo = ''")
        connection.execute("SELECT pg_reload_conf()")
        while connection.execute("SELECT 1 FROM pg_stat_wal_receiver").fetchone():
            time.sleep(0.1)


def promote(standby: LocalPostgres) -> None:
    """Make a standby the primary."""
    with standby.connect("postgres") as connection:
        assert connection.execute("SELECT pg_promote()").fetchone() == (True,)
