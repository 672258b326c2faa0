"""The environment of a checkout: what is in the way is said in one sentence, and an interrupted one is made again."""

from __future__ import annotations

import errno
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from support.paths import ROOT

pytestmark = pytest.mark.thorough

ANSWERS = {"pip": "import pip; print(pip.__version__)", "ensurepip": "import ensurepip", "venv": "import venv"}


@pytest.fixture
def make_env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the module in an empty folder with enough space."""
    spec = importlib.util.spec_from_file_location("make_env", ROOT / ".ci" / "make_env.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=10**12))
    return module


@pytest.fixture
def base(make_env: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that determines what the Python outside of the environment has."""
    real = make_env.output_of

    def determine(*modules: str, pip: str | None = None) -> None:
        def output_of(python: str, program: str) -> str | None:
            if python == make_env.sys.executable and program == ANSWERS["pip"]:
                return pip
            if python == make_env.sys.executable and program in ANSWERS.values():
                return "" if program.removeprefix("import ") in modules else None
            found: str | None = real(python, program)
            return found

        monkeypatch.setattr(make_env, "output_of", output_of)

    return determine


@pytest.fixture
def steps(make_env: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return the commands that are run: one that makes an environment does so without pip, the others do nothing."""
    commands: list[list[str]] = []

    def run(command: list[str], log: str, *_: str, **__: str) -> None:
        commands.append(command)
        Path(log).touch()
        if command[1:3] == ["-m", "venv"]:
            subprocess.run([*command[:3], "--without-pip", command[-1]], check=True)

    monkeypatch.setattr(make_env, "run", run)
    return commands


def made_count(steps: list[list[str]]) -> int:
    """Return how often an environment was made."""
    return sum(command[1:3] == ["-m", "venv"] for command in steps)


def _marks_in(folder: Path) -> set[str]:
    """Return the hidden files of an environment; since Python 3.13 one of them tells git to ignore the folder."""
    return {path.name for path in folder.glob(".*")} - {".gitignore"}


def test_an_interrupted_environment_is_made_again(
    make_env: ModuleType, base: Callable[..., None], steps: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its Python is there before its pip, so that it would otherwise stay without pip."""
    base("venv", "ensurepip")
    run = make_env.run

    def interrupted(command: list[str], log: str, *words: str, **variables: str) -> None:
        run(command, log, *words, **variables)
        raise KeyboardInterrupt

    with monkeypatch.context() as patches:
        patches.setattr(make_env, "run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            make_env.main(".venv", "demo")
    assert Path(".venv/bin/python").exists()
    with pytest.raises(SystemExit, match="has no pip; run `make clean`"):  # the environment of this test never has one
        make_env.main(".venv", "demo")
    assert made_count(steps) == 2
    base("venv", pip="24.0")
    make_env.main(".venv", "demo")
    assert made_count(steps) == 2, "a finished environment is extended"
    assert Path(".venv/.demo").exists()


def test_an_environment_whose_python_is_gone_is_made_again(
    make_env: ModuleType, base: Callable[..., None], steps: list[list[str]]
) -> None:
    """The environment has a link to the system's Python, which may have been upgraded or removed."""
    base("venv", pip="24.0")
    make_env.main(".venv", "demo")
    for link in Path(".venv/bin").glob("python*"):
        link.unlink()
        link.symlink_to("/nowhere/python")
    make_env.main(".venv", "test")
    assert made_count(steps) == 2
    assert {path.name for path in Path(".venv").glob(".*")} >= {".demo", ".test"}


def test_a_copied_environment_is_made_again(
    make_env: ModuleType, base: Callable[..., None], steps: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The programs in a copy would start the Python of the first folder, and so check and run its code."""
    base("venv", pip="24.0")
    make_env.main(".venv", "demo")
    shutil.copytree(".venv", "copy/.venv", symlinks=True)
    monkeypatch.chdir("copy")
    make_env.main(".venv", "demo")
    assert made_count(steps) == 2
    make_env.main(os.path.abspath(".venv"), "demo")  # noqa: PTH100 - a text, as make gives it
    assert made_count(steps) == 2


def test_an_environment_in_a_volume_is_made_again(
    make_env: ModuleType, base: Callable[..., None], steps: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder of a volume cannot be removed, only its content."""
    base("venv", pip="24.0")
    Path(".venv").mkdir()
    Path(".venv/left").touch()
    real = os.rmdir

    def rmdir(path: str, **options: int) -> None:
        if path == ".venv":
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), path)
        real(path, **options)

    monkeypatch.setattr(os, "rmdir", rmdir)
    make_env.main(".venv", "demo")
    assert made_count(steps) == 1
    assert {path.name for path in Path(".venv").iterdir()} >= {".demo", "bin"}
    assert not Path(".venv/left").exists()


def test_a_link_in_place_of_the_environment_is_refused(
    make_env: ModuleType, base: Callable[..., None], steps: list[list[str]]
) -> None:
    """Python makes no environment in a link, and would only name a missing module."""
    base("venv", pip="24.0")
    Path("elsewhere").mkdir()
    Path(".venv").symlink_to("elsewhere")
    with pytest.raises(SystemExit, match=r"^make env: .venv is a link, .*; remove it$"):
        make_env.main(".venv", "demo")
    assert not steps


SECOND = """
import importlib.util, shutil, sys
from types import SimpleNamespace

spec = importlib.util.spec_from_file_location("make_env", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
shutil.disk_usage = lambda _: SimpleNamespace(free=10**12)
module.make_venv = lambda *_: print("made", flush=True)
module.pip_for = lambda *_: ["pip"]
module.install = lambda *_: print("installed", flush=True)
module.main(*sys.argv[2:])
"""
"""A program that makes an environment, of which it does nothing that takes long."""


@pytest.mark.parametrize("first", ["finished", "changed", "interrupted"])
def test_a_second_process_waits_for_the_first(make_env: ModuleType, tmp_path: Path, first: str) -> None:
    """The second one would remove what the first makes; afterwards it does only what the first has not done."""
    Path("source").touch()
    with make_env.locked(".venv"):
        second = subprocess.Popen(
            [sys.executable, "-c", SECOND, ROOT / ".ci" / "make_env.py", ".venv", "demo", "source"],
            stdout=subprocess.PIPE, text=True, cwd=tmp_path,
        )  # fmt: skip
        assert second.stdout is not None
        waiting = second.stdout.readline()
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", ".venv"], check=True)
        Path(".venv/.unfinished" if first == "interrupted" else ".venv/.demo").touch()
        Path(".venv.log").touch()
        if first == "changed":
            later_s = Path(".venv/.demo").stat().st_mtime + 10
            os.utime("source", (later_s, later_s))
    rest, _ = second.communicate(timeout=120)
    assert waiting == "Waiting for another process that makes the environment in .venv ...\n"
    assert ("made" in rest, "installed" in rest) == (first == "interrupted", first != "finished")
    assert second.returncode == 0


def test_a_pip_that_survives_keeps_the_lock(make_env: ModuleType, tmp_path: Path) -> None:
    """If only the process that started it is killed, pip still writes to the environment."""
    program = (
        "import os\n"
        "found = []\n"
        "for file in range(3, 65_536):\n"
        "    try: found.append(os.path.samestat(os.fstat(file), os.stat('.venv.lock')))\n"
        "    except OSError: pass\n"
        "print(any(found))"
    )
    with make_env.locked(".venv"):
        make_env.run([sys.executable, "-c", program], str(tmp_path / "log"), "installing", "")
    assert (tmp_path / "log").read_text() == "True\n"
    with make_env.locked(".venv"):
        pass


@pytest.mark.parametrize(
    ("modules", "pip", "is_enough"),
    [
        (("venv", "ensurepip"), None, True),
        (("venv",), "22.3", True),
        (("venv",), "100.1b2", True),
        (("venv",), "22.0.2", False),
        (("venv",), None, False),
        ((), "24.0", False),
    ],
)
def test_the_package_of_the_chosen_python_is_named(
    make_env: ModuleType, base: Callable[..., None], steps: list[list[str]],
    modules: tuple[str, ...], pip: str | None, is_enough: bool,
) -> None:  # fmt: skip
    """The package of another version of Python changes nothing, and an old pip cannot help."""
    base(*modules, pip=pip)
    if is_enough:
        make_env.make_venv(make_env.sys.executable, ".venv", "log")
        assert (made_count(steps), _marks_in(Path(".venv"))) == (1, set())
    else:
        version = "{}.{}".format(*sys.version_info)
        with pytest.raises(
            SystemExit, match=rf"venv module of this python{version} .*: apt install python{version}-venv"
        ):
            make_env.make_venv(make_env.sys.executable, ".venv", "log")
        assert not steps


@pytest.mark.parametrize(
    ("system", "machine", "bits", "glibc", "expected_text"),
    [
        ("linux", "x86_64", 64, True, None),
        ("linux", "aarch64", 64, True, None),
        ("darwin", "arm64", 64, False, None),
        ("linux", "x86_64", 64, False, "Linux with glibc is needed"),
        ("linux", "armv7l", 32, True, "x86-64 or ARM64 are needed, .* this is armv7l with a Python of 32 bits"),
        ("linux", "aarch64", 32, True, "this is aarch64 with a Python of 32 bits"),
        ("win32", "AMD64", 64, False, "on Windows, use WSL"),
    ],
)
def test_machines_without_wheels_are_refused(
    make_env: ModuleType, monkeypatch: pytest.MonkeyPatch,
    system: str, machine: str, bits: int, glibc: bool, expected_text: str | None,
) -> None:  # fmt: skip
    """Before anything is downloaded, one sentence says what is needed; otherwise pip would try to compile for long."""
    seen = SimpleNamespace(platform=system, maxsize=2 ** (bits - 1) - 1, exit=sys.exit)
    monkeypatch.setattr(make_env, "sys", seen)
    monkeypatch.setattr(make_env, "platform", SimpleNamespace(machine=lambda: machine))
    monkeypatch.setattr(make_env, "has_glibc", lambda: glibc)
    if expected_text is None:
        make_env.check_machine()
    else:
        with pytest.raises(SystemExit, match=f"^make env: .*{expected_text}"):
            make_env.check_machine()


def test_this_machine_is_accepted(make_env: ModuleType) -> None:
    """The tests run where the environment can be made."""
    make_env.check_machine()


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        ("/x/python: No module named pip", "the environment has no pip; run `make clean`, then the same command again"),
        ("OSError: [Errno 28] No space left on device", "the disk is full; free some space"),
        ("anything else", "see the end of the log"),
    ],
)
def test_the_output_of_pip_decides_the_sentence(
    make_env: ModuleType, tmp_path: Path, output: str, sentence: str
) -> None:
    """The end of a log is not what a newcomer should have to read."""
    command = [sys.executable, "-c", f"import sys; sys.exit({output!r})"]
    with pytest.raises(SystemExit) as failed:
        make_env.run(command, str(tmp_path / "log"), "installing", "see the end of the log")
    assert str(failed.value).startswith(f"make env: installing failed: {sentence} (")


def test_settings_of_the_user_do_not_lead_elsewhere(
    make_env: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On shared machines pip is often told to install into the home folder, which it refuses in an environment."""
    monkeypatch.setenv("PIP_USER", "1")
    program = "import os; print(os.environ['PIP_USER'], os.environ['TMPDIR'])"
    make_env.run([sys.executable, "-c", program], str(tmp_path / "log"), "installing", "", TMPDIR="x")
    assert (tmp_path / "log").read_text() == "0 x\n"


needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="NOT TESTED: there is no make")


def run_make(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run make in a folder with the Makefile of this project."""
    command = ["make", "-C", str(folder), "-f", str(ROOT / "Makefile"), *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **variables}
    )  # fmt: skip


@needs_make
def test_an_environment_of_another_folder_is_recognized(tmp_path: Path) -> None:
    """After a checkout was moved or copied, its environment would run the code of the other folder, or none."""

    def ready(folder: Path, environment: str) -> tuple[int, str]:
        done = run_make(folder, "ready", f"VENV={environment}")
        return done.returncode, done.stderr

    assert ready(ROOT, sys.prefix) == (0, "")
    for folder, environment in ((tmp_path, sys.prefix), (ROOT, str(tmp_path / "nowhere"))):
        status, error = ready(folder, environment)
        assert status == 2
        assert "is of another folder or Python: run `make clean`, then the same command again." in error


@needs_make
def test_packages_outside_the_environment_do_not_precede_it(tmp_path: Path) -> None:
    """The variable may name another checkout or the packages of another Python, which the commands would import."""
    (tmp_path / "kafka_replica_spark").mkdir()
    (tmp_path / "kafka_replica_spark" / "__init__.py").touch()
    done = run_make(ROOT, "ready", f"VENV={sys.prefix}", PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")


@needs_make
def test_make_env_checks_the_environment_and_make_clean_leaves_nothing(tmp_path: Path) -> None:
    """A person runs both to repair an environment."""
    environment = str(tmp_path / "environment")
    assert 'find_spec("kafka_replica_spark")' in run_make(ROOT, "-n", "env", f"VENV={environment}").stdout
    for ending in (".log", ".lock"):
        Path(environment + ending).touch()
    commands = run_make(ROOT, "-n", "clean", f"VENV={environment}").stdout
    assert f"rm -rf {environment} {environment}.log {environment}.lock " in commands
