"""A schema registry on this machine, with Confluent's HTTP interface: franz-go's, which keeps schemas in memory.

It is built with Go from the Go module proxy, once for all processes of a run; tests that use it skip, with a reason, if
Go or the proxy is missing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from filelock import FileLock

_MODULE = "github.com/twmb/franz-go/pkg/sr@v1.8.0"
_PROGRAM = """package main

import (
	"fmt"
	"os"

	"github.com/twmb/franz-go/pkg/sr/srfake"
)

func main() {
	registry := srfake.New()
	fmt.Println(registry.URL())
	os.Stdin.Read(make([]byte, 1))
}
"""
_BUILD_S = 240


_BUILD: Final = ("build", "-gcflags=all=-N -l", "-ldflags=-s -w", "-o", "built", ".")
"""Without an optimiser and without C, Go compiles its own library in half of the time."""


@cache
def _built(folder: Path) -> Path:
    program = folder / "registry"
    with FileLock(folder / "lock"):
        if not program.exists():
            _build(folder)
    return program


def _build(folder: Path) -> None:
    go = shutil.which("go")
    if go is None:
        pytest.skip("NOT TESTED with a schema registry: Go, with which it is built, is not installed")
    (folder / "main.go").write_text(_PROGRAM)
    (folder / "go.mod").unlink(missing_ok=True)  # of a process whose build failed
    environment = {**os.environ, "GOFLAGS": "-mod=mod", "CGO_ENABLED": "0"}
    for arguments in (["mod", "init", "registry"], ["get", _MODULE], _BUILD):
        try:
            subprocess.run(
                [go, *arguments], cwd=folder, env=environment, check=True, capture_output=True, timeout=_BUILD_S
            )
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            pytest.skip(f"NOT TESTED with a schema registry: it cannot be built: {error}: {error.stderr!r}")
    (folder / "built").replace(folder / "registry")


@contextmanager
def running_registry(folder: Path) -> Iterator[str]:
    """Run a new registry, which is empty; yield its URL. It is built in the folder, unless it is there."""
    process = subprocess.Popen([_built(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()
