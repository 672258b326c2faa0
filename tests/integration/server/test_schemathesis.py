"""The service against the official OpenAPI description of SDMX REST, by schemathesis, which has its own environment."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import urllib.error
import urllib.request
import venv
from pathlib import Path
from typing import Final

import pytest

from kafka_replica.embedded.cache import cache_dir
from kafka_replica.testing import FakeTopic
from support.server.page_topic import publish
from support.server.registry import ARTEFACTS
from support.server.server_tools import running

VERSION: Final = "4.32.5"
_COMMIT: Final = "46bba52cb8a8a21704019f949987ee21adefdd5e"
_ADDRESS: Final = f"https://raw.githubusercontent.com/sdmx-twg/sdmx-rest/{_COMMIT}/api/sdmx-rest.yaml"
_SHA256: Final = "2c172ea3a80567939d828b6f5bfb8fea3530387a2786542a186bdc5786084911"
_CONFIGURATION: Final = """
[checks.not_a_server_error]
expected-statuses = ["2xx", "4xx", 501]
"""
_BROKEN: Final = "^/registration/(id|provider)/"
"""The paths of which the description lacks a parameter."""


def description() -> Path:
    """Return the description of SDMX REST 2.2.2: the file SDMX_REST_OPENAPI names, or a download; skip without both."""
    named = os.environ.get("SDMX_REST_OPENAPI")
    kept = Path(named) if named else cache_dir() / "sdmx-rest-2.2.2.yaml"
    if not kept.exists():
        try:
            with urllib.request.urlopen(_ADDRESS, timeout=60) as answer:
                content: bytes = answer.read()
        except (OSError, urllib.error.URLError) as error:
            pytest.skip(f"NOT TESTED: the OpenAPI description of SDMX REST cannot be downloaded: {error}")
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(content)
    assert hashlib.sha256(kept.read_bytes()).hexdigest() == _SHA256, f"{kept} is another description"
    return kept


def program() -> Path:
    """Return the program, from an environment of its own; skip if it cannot be installed."""
    folder = cache_dir() / f"schemathesis-{VERSION}-{sys.version_info.major}.{sys.version_info.minor}"
    found = folder / "bin" / "st"
    if not found.exists():
        venv.create(folder, with_pip=True, clear=True)
        command = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", f"schemathesis=={VERSION}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"NOT TESTED: schemathesis cannot be installed: {done.stderr[-300:]}")
    return found


@pytest.mark.long
def test_every_status_is_documented_and_nothing_fails(tmp_path: Path) -> None:
    """More than a thousand valid and invalid requests: no 5xx but 501 for what is not served, no other status."""
    arguments = ["run", str(description()), "--phases", "coverage,fuzzing", "--max-examples", "30", "--seed", "1"]
    arguments += ["--checks", "not_a_server_error,status_code_conformance", "--continue-on-failure", "--no-color"]
    st, topic = program(), FakeTopic()
    (tmp_path / "schemathesis.toml").write_text(_CONFIGURATION)
    publish(topic, ARTEFACTS.values())
    with topic.replica() as replica, running(replica, answer=None) as (address, _):
        replica.wait_ready(60)
        done = subprocess.run(
            [st, *arguments, "--exclude-path-regex", _BROKEN, "--url", f"{address}/sdmx/v2"],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:]
    assert "Selected: 9/11" in done.stdout
    assert "Tested: 9" in done.stdout
    print(next(line for line in done.stdout.splitlines() if " generated, " in line).strip())
