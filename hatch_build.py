"""Compile the optional parser of record batches while the package is built.

An editable installation (``make env``) gets it if there is a C compiler with Python's headers, and works without it. A
wheel contains it only with ``KAFKA_REPLICA_COMPILED=1`` in the environment, which fails where it cannot be compiled;
otherwise the wheel is the same for every system. ``KAFKA_REPLICA_COMPILED=0`` never compiles.
"""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = Path("kafka_replica/common/_records.c")
SHARED = ["-bundle", "-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-shared", "-fPIC"]


class CompilingHook(BuildHookInterface):
    """The hook that hatchling calls before it builds a wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the parser beside its source; put it into a wheel if it was requested."""
        wanted = os.environ.get("KAFKA_REPLICA_COMPILED", "")
        if wanted == "0" or (version != "editable" and wanted != "1"):
            return
        source = Path(self.root) / SOURCE
        made = source.with_name(f"_records{sysconfig.get_config_var('EXT_SUFFIX')}")
        problem = compiled(source, made)
        if problem and wanted == "1":
            raise SystemExit(f"KAFKA_REPLICA_COMPILED=1, but {SOURCE} cannot be compiled: {problem}")
        if problem:
            made.unlink(missing_ok=True)  # it may be of another source
            self.app.display_warning(f"{SOURCE} is not compiled; the same is done in Python ({problem})")
        elif version != "editable":
            build_data["force_include"][str(made)] = str(SOURCE.with_name(made.name))
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
