"""The rules of axe-core (MPL 2), fetched from npm once, and kept in the cache of the user."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

from kafka_replica.embedded.cache import cache_dir

VERSION: Final = "4.14.1"
_SHA256: Final = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"
_FETCH_S: Final = 120


@cache
def axe_core() -> str | None:
    """Return the script; None if it can neither be found nor fetched.

    The variable AXE_CORE may have the path of another ``axe.min.js``.
    """
    named = os.environ.get("AXE_CORE")
    if named:
        return Path(named).read_text("utf-8")
    kept = cache_dir() / f"axe-core-{VERSION}.min.js"
    if not _is_genuine(kept):
        _fetch(kept)
    return kept.read_text("utf-8") if _is_genuine(kept) else None


def _is_genuine(file: Path) -> bool:
    return file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == _SHA256


def _fetch(kept: Path) -> None:
    """Download the package with npm, which knows the machine's registry, and keep its script."""
    npm = shutil.which("npm")
    if npm is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        command = [npm, "pack", f"axe-core@{VERSION}", "--pack-destination", folder]
        try:
            subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=_FETCH_S)
        except (OSError, subprocess.SubprocessError):
            return
        with tarfile.open(Path(folder, f"axe-core-{VERSION}.tgz")) as package:
            found = package.extractfile("package/axe.min.js")
            content = b"" if found is None else found.read()
    kept.parent.mkdir(parents=True, exist_ok=True)
    part = kept.with_suffix(f".{os.getpid()}")
    part.write_bytes(content)
    part.replace(kept)
