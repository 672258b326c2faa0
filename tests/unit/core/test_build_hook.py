"""The build hook: it compiles the parser where it can, and is never in the way where it cannot, unless required."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from support.paths import ROOT

pytestmark = pytest.mark.long

VARIABLE = "KAFKA_REPLICA_COMPILED"
FOLDER = "kafka_replica/common"
NAMES = "_batches", "_heap", "_records"
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="NOT TESTED: there is no C compiler")


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    """Return the module of the hook, which belongs to no package."""
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def build(hook: ModuleType, root: Path, version: str) -> tuple[dict[str, Any], list[str]]:
    """Call the hook as hatchling does; return the data of the build and the warnings."""
    warnings: list[str] = []
    data: dict[str, Any] = {"force_include": {}, "pure_python": True, "infer_tag": False}
    app = SimpleNamespace(display_warning=warnings.append)
    made = hook.CompilingHook(str(root), {}, None, None, str(root), "wheel", app)
    made.initialize(version, data)
    return data, warnings


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a folder with nothing but the sources of the modules."""
    (tmp_path / FOLDER).mkdir(parents=True)
    for name in NAMES:
        shutil.copy(ROOT / FOLDER / f"{name}.c", tmp_path / FOLDER)
    for name in ("_module", "_record_fields", "_stored_record"):
        shutil.copy(ROOT / FOLDER / f"{name}.h", tmp_path / FOLDER)
    return tmp_path


def modules(root: Path) -> list[str]:
    """Return the names of all files next to the sources."""
    return sorted(path.name for path in (root / FOLDER).iterdir() if path.suffix not in {".c", ".h"})


@needs_compiler
def test_an_editable_installation(hook: ModuleType, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An editable installation gets the modules, which can be imported; its wheel stays one for every system."""
    monkeypatch.delenv(VARIABLE, raising=False)
    data, warnings = build(hook, checkout, "editable")
    assert (data["pure_python"], data["force_include"], warnings) == (True, {}, [])
    made = modules(checkout)
    assert [name.partition(".")[0] for name in made] == [*NAMES]
    for name in made:
        spec = importlib.util.spec_from_file_location(name.partition(".")[0], checkout / FOLDER / name)
        assert spec is not None
        assert importlib.util.module_from_spec(spec).__doc__


@needs_compiler
def test_a_wheel(hook: ModuleType, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wheel contains the module if that was requested, and is then for this system; otherwise it is as before."""
    monkeypatch.delenv(VARIABLE, raising=False)
    assert build(hook, checkout, "standard") == ({"force_include": {}, "pure_python": True, "infer_tag": False}, [])
    assert modules(checkout) == []
    monkeypatch.setenv(VARIABLE, "1")
    data, _ = build(hook, checkout, "standard")
    made = modules(checkout)
    assert len(made) == len(NAMES)
    assert data["force_include"] == {str(checkout / FOLDER / name): f"{FOLDER}/{name}" for name in made}
    assert (data["pure_python"], data["infer_tag"]) == (False, True)


@pytest.mark.parametrize("compiler", ["no-such-compiler", f"{sys.executable} -c raise(SystemExit('broken')) --"])
def test_without_a_compiler(hook: ModuleType, checkout: Path, monkeypatch: pytest.MonkeyPatch, compiler: str) -> None:
    """An editable installation continues without the module, also without an outdated one; a required one fails."""
    monkeypatch.setenv("CC", compiler)
    monkeypatch.delenv(VARIABLE, raising=False)
    (checkout / FOLDER / f"_records{importlib.machinery.EXTENSION_SUFFIXES[0]}").touch()
    _, warnings = build(hook, checkout, "editable")
    assert len(warnings) == len(NAMES)
    assert all("is not compiled; it is optional" in warning for warning in warnings)
    assert modules(checkout) == []
    monkeypatch.setenv(VARIABLE, "1")
    for version in ("editable", "standard"):
        with pytest.raises(SystemExit, match="cannot be compiled"):
            build(hook, checkout, version)


def test_compilation_can_be_forbidden(hook: ModuleType, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the variable is 0, the build compiles no module."""
    monkeypatch.setenv(VARIABLE, "0")
    build(hook, checkout, "editable")
    assert modules(checkout) == []
