"""Compile the optional modules in C while the package is built.

An editable installation (``make env``) gets them if there is a C compiler with Python's headers, and works without
them. A wheel contains them only with ``KAFKA_REPLICA_COMPILED=1`` in the environment, which fails where they cannot be
compiled; otherwise the wheel is the same for every system. ``KAFKA_REPLICA_COMPILED=0`` never compiles.
"""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("kafka_replica/common")
NAMES = "_batches", "_records", "_heap"
SHARED = ["-bundle", "-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-shared", "-fPIC"]


class CompilingHook(BuildHookInterface):
    """The hook that hatchling calls before it builds a wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the modules beside their sources; put them into a wheel if that was requested."""
        wanted = os.environ.get("KAFKA_REPLICA_COMPILED", "")
        if wanted == "0" or (version != "editable" and wanted != "1"):
            return
        for name in NAMES:
            made = f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}"
            folder = Path(self.root) / FOLDER
            problem = compiled(folder / f"{name}.c", folder / made)
            if problem and wanted == "1":
                raise SystemExit(f"KAFKA_REPLICA_COMPILED=1, but {FOLDER / name}.c cannot be compiled: {problem}")
            if problem:
                (folder / made).unlink(missing_ok=True)  # it may be of another source
                self.app.display_warning(f"{FOLDER / name}.c is not compiled; it is optional ({problem})")
            elif version != "editable":
                build_data["force_include"][str(folder / made)] = str(FOLDER / made)
                build_data["pure_python"] = False
                build_data["infer_tag"] = True


def compiled(source: Path, made: Path) -> str:
    """Compile a module; return what is in the way, or an empty text."""
    compiler = os.environ.get("CC", "cc").split()
    flags = ["-O2", "-fvisibility=hidden", "-I", sysconfig.get_path("include"), *SHARED]
    unfinished = made.with_suffix(f".{os.getpid()}")  # a running process may use the old one
    try:
        subprocess.run(
            [*compiler, *flags, str(source), "-o", str(unfinished)], check=True, capture_output=True, text=True
        )
        unfinished.replace(made)
    except subprocess.CalledProcessError as error:
        return str(error.stderr).strip()[-2000:] or str(error)
    except OSError as error:
        return str(error)
    finally:
        unfinished.unlink(missing_ok=True)
    return ""
