"""Look up the dependencies and write ``requirements/*.lock`` (``make lock``; ``LOCK_ARGS=--upgrade`` for new versions).

The dependencies of everything are resolved together, and then shared out: each lock file adds to those before it
what its commands need. Every package is in one file, so that all environments hold the same versions.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "requirements"
UV = Path(sys.executable).with_name("uv")
LEVELS = {
    "demo": "--extra cli --extra directories --extra embedded --extra metrics --extra postgres --extra sdmx "
    "--extra server --extra spark --group install",
    "test": "--all-extras --group install --group test",
    "check": "--all-extras --group dev",
    "docs": "--all-extras --group dev --group docs",
}
HEADERS = {
    "demo": "# What `make demo` needs.",
    "test": "# What `make test` needs beyond demo.lock.",
    "check": "# What `make check` needs beyond test.lock.",
    "docs": "# What `make docs` needs beyond check.lock.",
}


def compiled(*options: str, output: Path) -> dict[str, str]:
    """Resolve the dependencies; return the lines of each package by its name."""
    command = [UV, "pip", "compile", "--quiet", "--universal", "--no-header", *options, ROOT / "pyproject.toml"]
    subprocess.run([*command, "--output-file", output], check=True, cwd=ROOT)
    return by_name(output.read_text())


def by_name(text: str) -> dict[str, str]:
    """Split a lock file by package; a package with a version for each Python has several entries."""
    found: dict[str, str] = {}
    for entry in re.findall(r"^[a-zA-Z0-9].*\n(?:[ ].*\n)*", text, re.MULTILINE):
        name = re.match(r"[\w.-]+", entry)[0]
        found[name] = found.get(name, "") + entry
    return found


def main() -> None:
    """Write the lock files."""
    with tempfile.TemporaryDirectory(prefix="kafka-replica-lock-") as name:
        everything = Path(name) / "everything.txt"
        everything.write_text("".join((FOLDER / f"{level}.lock").read_text() for level in LEVELS))
        options = [*LEVELS["docs"].split(), "--generate-hashes", *sys.argv[1:]]
        left = compiled(*options, output=everything)
        for level, wanted in LEVELS.items():
            names = compiled(*wanted.split(), "-c", str(everything), output=Path(name) / level)
            entries = [left.pop(package) for package in sorted(left.keys() & names.keys())]
            (FOLDER / f"{level}.lock").write_text("\n".join([HEADERS[level], "".join(entries)]))
    if left:
        sys.exit(f"no lock file holds {', '.join(left)}")


if __name__ == "__main__":
    main()
