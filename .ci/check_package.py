"""Build the package, and use it as a stranger would: installed from the wheel, outside of the checkout.

Checks that the base install works and has the size that the documentation states, imports nothing that it does not
install, and has types that mypy and pyright accept in a user's program. ``make package`` runs this, and leaves what it
has checked in ``dist``, from where a release publishes it; it asks the package index for the dependencies.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
DIST = ROOT / "dist"
STATED = ROOT / "docs" / "versions.md"
MAX_BASE_MB = 35
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


def run(*command: object, fails: bool = False) -> str:
    """Run a command in an empty folder; return its output."""
    with tempfile.TemporaryDirectory() as nowhere:
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, cwd=nowhere)
    if bool(done.returncode) != fails:
        sys.exit(f"package: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def installed(folder: Path, what: str) -> Path:
    """Install something into a new environment; return its Python."""
    run(BIN / "uv", "venv", "--quiet", "--python", sys.executable, folder)
    python = folder / "bin" / "python"
    run(BIN / "uv", "pip", "install", "--quiet", "--python", python, what)
    return python


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


def main() -> None:
    """Fail with the first thing that does not work."""
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
        print(f"package: wheel and source work outside the checkout; the base install has {base_mb:.0f} MB")


if __name__ == "__main__":
    main()
