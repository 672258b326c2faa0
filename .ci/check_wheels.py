"""Check that every locked package has a wheel for each system and Python that README.md names.

A package without one would be built from source, which fails on a machine without a compiler. The check queries the
package index, and fails if the index cannot be reached. ``make check CHECK_WHEELS=no`` leaves the check out.
"""

import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

from make_env import NEWEST, OLDEST

ROOT = Path(__file__).resolve().parent.parent
UV = Path(sys.executable).with_name("uv")
SYSTEMS = (
    "x86_64-manylinux_2_36", "aarch64-manylinux_2_36",  # glibc of Debian 12
    "x86_64-apple-darwin", "aarch64-apple-darwin",
)  # fmt: skip
# PySpark has never had wheels: its source distribution is Python and jars, and needs no compiler.
WITHOUT_WHEELS = ("pyspark",)
MISSING = "has no usable wheels"  # uv's words


def problem(system: str, python: str) -> str:
    """Return why the lock files cannot be installed from wheels there, in uv's words; empty if they can."""
    locks = sorted((ROOT / "requirements").glob("*.lock"))
    with tempfile.TemporaryDirectory() as nowhere:
        command = [
            UV, "pip", "install", "--dry-run", "--quiet", "--no-deps", "--require-hashes", "--only-binary", ":all:",
            *(f"--no-binary={name}" for name in WITHOUT_WHEELS), "--target", nowhere,
            "--python-platform", system, "--python-version", python, *(f"-r{lock}" for lock in locks),
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr.strip() or f"uv ended with {done.returncode}" if done.returncode else ""


def main() -> None:
    """Fail with the missing wheels, or with the reason why they could not be looked up."""
    pythons = [f"3.{minor}" for minor in range(OLDEST[1], NEWEST[1] + 1)]
    pairs = list(product(SYSTEMS, pythons))
    with ThreadPoolExecutor(4) as pool:
        found = dict(zip(pairs, pool.map(lambda pair: problem(*pair), pairs), strict=True))
    wrong = {pair: text for pair, text in found.items() if text}
    for (system, python), text in wrong.items():
        print(f"{system}, Python {python}: {text}\n", file=sys.stderr)
    if any(MISSING not in text for text in wrong.values()):
        sys.exit(
            "wheels: NOT CHECKED: uv ended with the errors above; try again when the package index is within reach, or "
            "leave this out: make check CHECK_WHEELS=no"
        )
    if wrong:
        sys.exit("wheels: some are missing; choose another version in pyproject.toml, and `make lock`")
    print(f"wheels: all packages have one for {len(SYSTEMS)} systems, Python {pythons[0]} to {pythons[-1]}")


if __name__ == "__main__":
    main()
