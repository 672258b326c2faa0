"""Build the package, and use it as a stranger would: installed from the wheel, outside of the checkout.

Checks that the base install works and has the size that the documentation states, imports nothing that it does not
install, and has types that mypy and pyright accept in a user's program. ``make package`` runs this, and leaves what it
has checked in ``dist``, from where a release publishes it; it asks the package index for the dependencies.

Then each extra is installed alone, and its program of ``first_steps`` runs with it; all of them also run with
the lowest versions that ``pyproject.toml`` allows, and some on each Python that is supported and found here.
"""

import os
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path

from programs import output_of

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
DIST = ROOT / "dist"
STATED = ROOT / "docs" / "versions.md"
MAX_BASE_MB = 35
FIRST_STEPS = ROOT / ".ci" / "first_steps"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
ALL_PYTHONS = os.environ.get("PACKAGE_PYTHONS") == "all"
"""Makes a Python that is not found an error."""
ON_EACH_PYTHON = ("cli", "directories", "metrics", "rocksdb", "sdmx")
USER_PROGRAM = """
from kafka_replica import MemoryStore, Record, Replica, Snapshot
from kafka_replica.testing import FakeTopic


def value_of(snapshot: Snapshot, key: str) -> bytes | None:
    record: Record | None = snapshot.get(key)
    return None if record is None else record.value


topic = FakeTopic("codes")
topic.put("a", b"1")
replica: Replica = topic.replica(MemoryStore())
with replica:
    assert value_of(replica.wait_ready(timeout_s=60), "a") == b"1"
"""
WRONG_PROGRAM = USER_PROGRAM + "\nnumber: int = replica.topic\n"  # types that are not found would accept it


def run(*command: object, fails: bool = False, or_else: str | None = None) -> str:
    """Run a command in an empty folder; return its output, or ``or_else`` if it fails and that is given."""
    with tempfile.TemporaryDirectory() as nowhere:
        return output_of("package", nowhere, *command, fails=fails, or_else=or_else)


def installed(folder: Path, what: str, *options: str, python: str = sys.executable) -> Path:
    """Install something into a new environment; return its Python."""
    run(BIN / "uv", "venv", "--quiet", "--python", python, folder)
    made = folder / "bin" / "python"
    run(BIN / "uv", "pip", "install", "--quiet", "--python", made, *options, what)
    return made


def size_mb(folder: Path) -> float:
    """Return the size of all files in a folder, without compiled modules."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return sum(path.stat().st_size for path in files) / 1e6


def check_types(folder: Path, python: Path) -> None:
    """Check that both type checkers find the types of the installed package."""
    for text, fails in ((USER_PROGRAM, False), (WRONG_PROGRAM, True)):
        program = folder / "user_program.py"
        program.write_text(text)
        run(BIN / "mypy", "--strict", "--python-executable", python, program, fails=fails)
        run(BIN / "pyright", "--pythonpath", python, program, fails=fails)
    program.write_text(USER_PROGRAM)
    run(python, program)


def extras() -> list[str]:
    """Return all extras but ``all``; each must have a program in ``first_steps``."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = sorted(project["optional-dependencies"].keys() - {"all"})
    programs = sorted(path.stem.removeprefix("with_") for path in FIRST_STEPS.glob("with_*.py"))
    if names != programs:
        sys.exit(f"package: the extras are {names}, and {FIRST_STEPS} has programs for {programs}")
    return names


def check_extras(folder: Path, wheel: Path) -> None:
    """Check that each extra works alone, and that all work with the lowest versions allowed."""
    for extra in extras():
        # Kafka and Spark run in Java; everything else must come with the extra itself.
        run(installed(folder / extra, f"{wheel}[{extra}]"), FIRST_STEPS / f"with_{extra}.py")
        shutil.rmtree(folder / extra)
    # Only wheels: users cannot install a version everywhere if it has to be compiled.
    lowest = ("--resolution", "lowest-direct", "--only-binary", ":all:", "--no-binary", "pyspark")
    python = installed(folder / "lowest", f"{wheel}[all]", *lowest)
    for extra in extras():
        run(python, FIRST_STEPS / f"with_{extra}.py")


def check_pythons(folder: Path, wheel: Path) -> list[str]:
    """Check some extras on each Python that is found here; return those that are not found."""
    missing = []
    for version in PYTHONS:
        if not run(BIN / "uv", "python", "find", "--offline", "--no-python-downloads", version, or_else=""):
            missing.append(version)
            continue
        python = installed(folder / version, f"{wheel}[{','.join(ON_EACH_PYTHON)}]", python=version)
        for extra in ON_EACH_PYTHON:
            run(python, FIRST_STEPS / f"with_{extra}.py")
    return missing


def main() -> None:
    """Run all checks; fail at the first one that does not pass."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        shutil.rmtree(DIST, ignore_errors=True)
        run(BIN / "uv", "build", "--quiet", "--out-dir", DIST, ROOT)
        (wheel,) = DIST.glob("*.whl")
        (source,) = DIST.glob("*.tar.gz")
        python = installed(folder / "base", str(wheel))
        base_mb = size_mb(folder / "base" / "lib")
        if base_mb > MAX_BASE_MB or f"{MAX_BASE_MB} MB" not in STATED.read_text(encoding="utf-8"):
            sys.exit(f"package: the base install has {base_mb:.0f} MB; {STATED.name} states {MAX_BASE_MB} MB at most")
        check_types(folder, python)
        from_source = installed(folder / "source", str(source))
        run(from_source, "-c", "import kafka_replica, kafka_replica.testing")
        commands = installed(folder / "commands", f"{wheel}[cli]").with_name("kafka-replica")
        if "publish" not in run(commands, "--help"):
            sys.exit("package: the command does not run")
        if "publish" not in run(BIN / "uv", "tool", "run", "--from", f"{wheel}[cli]", "kafka-replica", "--help"):
            sys.exit("package: the command does not run with uvx")
        check_extras(folder / "extras", wheel)
        missing = check_pythons(folder / "pythons", wheel)
        if missing and ALL_PYTHONS:
            sys.exit(f"package: not tested on Python {', '.join(missing)}, which a release needs: install it")
        if missing:
            print(f"package: NOT TESTED on Python {', '.join(missing)}: not found on this machine")
        print(f"package: wheel and source work outside the checkout; the base install has {base_mb:.0f} MB")


if __name__ == "__main__":
    main()
