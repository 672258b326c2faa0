"""A real PostgreSQL for tests: that of `make chaos`; and copies of its files, as backups and lagging standbys are."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from chaos.postgres import LocalPostgres, find_binaries, free_port

__all__ = ["LocalPostgres", "back_up", "find_binaries", "free_port", "restore"]


def back_up(server: LocalPostgres) -> Path:
    """Copy the files of a server, which is stopped meanwhile."""
    copy = server.folder / "copy"
    server.kill()
    subprocess.run(["cp", "-a", str(server.folder / "data"), str(copy)], check=True)
    server.start()
    return copy


def restore(server: LocalPostgres, copy: Path) -> None:
    """Go on with an earlier copy; what was committed since is lost."""
    server.kill()
    shutil.rmtree(server.folder / "data")
    subprocess.run(["cp", "-a", str(copy), str(server.folder / "data")], check=True)
    server.start()
