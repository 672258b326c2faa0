"""The test of one target until its time is over, in batches with a seed each.

    python -m fuzz.session TARGET SECONDS SEED FOLDER

Each input is stored in FOLDER/TARGET.now while it is processed, so that it remains if the process ends.
"""

from __future__ import annotations

import faulthandler
import hashlib
import json
import sys
import time
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from hypothesis import HealthCheck, Phase, given, seed, settings

from fuzz.targets import TARGETS, Target

SLOW_S: Final = 10.0
"""The time limit of an input in seconds; the inputs are small, and the machine may be busy."""
HANGS_S: Final = 60.0
"""The time in seconds after which the process is ended."""
MEMORY_BYTES: Final = 4 << 30
"""The limit of the address space."""
_BATCH: Final = 200


class SlowError(Exception):
    """An input took too long."""


@dataclass(frozen=True)
class Finding:
    """A failure: the error, the input in a file, and the command that repeats it."""

    target: str
    error: str
    file: str
    repeat: str


def batch(target: Target, number: int, examples: int, folder: Path) -> Finding | None:
    """Feed that many inputs; return the first that causes a failure, reduced, or None."""
    failed: list[tuple[bytes, BaseException]] = []
    now = folder / f"{target.name}.now"

    @seed(number)
    @settings(
        max_examples=examples, deadline=None, database=None, phases=(Phase.generate, Phase.shrink), print_blob=False,
        report_multiple_bugs=False, suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(target.inputs)
    def feed(data: bytes) -> None:
        now.write_bytes(data)
        try:
            feed_in_time(target, data)
        except BaseException as error:
            failed.append((data, error))
            raise

    try:
        feed()
    except Exception:
        if not failed:
            raise
        return _kept(target, *failed[-1], folder)
    finally:
        now.unlink(missing_ok=True)
    return None


def feed_in_time(target: Target, data: bytes) -> None:
    """Feed one input.

    Raises:
        SlowError: the input took too long.
    """
    began_s = time.monotonic()
    faulthandler.dump_traceback_later(HANGS_S, exit=True)
    try:
        target.feed(data)
    finally:
        faulthandler.cancel_dump_traceback_later()
    took_s = time.monotonic() - began_s
    if took_s > SLOW_S:
        raise SlowError(f"{len(data):,} bytes took {took_s:.1f} s")


def _kept(target: Target, data: bytes, error: BaseException, folder: Path) -> Finding:
    file = folder / f"{target.name}-{hashlib.sha256(data).hexdigest()[:12]}.bin"
    file.write_bytes(data)
    shown = "".join(traceback.format_exception(error))
    file.with_suffix(".txt").write_text(f"{repeat_of(target.name, file)}\n\n{shown}")
    return Finding(target.name, f"{type(error).__name__}: {error}"[:300], str(file), repeat_of(target.name, file))


def repeat_of(target: str, file: Path) -> str:
    """Return the command that feeds the input again."""
    return f"python -m fuzz --reader {target} --repeat {file}"


def limit_memory() -> None:
    """Limit the process to :data:`MEMORY_BYTES`, where the system supports it."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    except (ImportError, ValueError, OSError):
        sys.stderr.write("memory is not bounded on this system\n")


def main() -> int:
    """Feed inputs; print a line of JSON per batch, and one more for a finding, which ends the run."""
    name, lasts, number, folder = sys.argv[1:5]
    limit_memory()
    ends_s, fed, at = time.monotonic() + float(lasts), 0, 0
    while True:
        # Seeds of one run and of the next must not coincide.
        found = batch(TARGETS[name], int(number) * 1_000_000 + at, _BATCH, Path(folder))
        fed, at = fed + _BATCH, at + 1
        line = {"target": name, "fed": fed, "finding": asdict(found) if found else None}
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()
        if found or time.monotonic() > ends_s:
            return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
