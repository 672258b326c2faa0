"""The examples of the pages about clients and FMR run on the real server; their comments state what is printed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_replica.sdmx import read_message
from support import plain_http
from support.doc_blocks import blocks
from support.docs.needs import needs_curl
from support.paths import ROOT
from support.server.data_samples import labour_topic
from support.server.rest_service import RestService, rest_service
from support.server.sdmx_dl import sdmx_dl

pytestmark = pytest.mark.long

PAGE = "docs/sdmx-clients.md"
FMR = (ROOT / "docs/move-from-fmr.md").read_text("utf-8")
SDMX_REST = "sdmx-rest@2.20.0"
RUN_S = 240


@pytest.fixture(scope="module")
def service() -> Iterator[RestService]:
    """Yield the service with the sample structures."""
    with rest_service(labour_topic()) as found:
        yield found


def examples(language: str, service: RestService, page: str = PAGE) -> list[str]:
    """Return the examples in a language, with the address of the service."""
    return [block.program({"http://localhost:8080": service.address}) for block in blocks(page, language=language)]


def stated(example: str, mark: str) -> list[str]:
    """Return what the comments of an example state, without prompts of the language."""
    lines = re.findall(rf"(?:^|  ){re.escape(mark)} (.*)$", example, re.MULTILINE)
    return [line for line in lines if not line.startswith("pragma")]


def printed(command: list[str], folder: Path) -> list[str]:
    """Run a program; return the lines that it prints."""
    environment = {**os.environ, "HOME": str(folder)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=RUN_S, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.strip() for line in done.stdout.splitlines() if line.strip()]


@pytest.mark.runs("docs/sdmx-clients.md", language="python")
@pytest.mark.parametrize("number", [0, 1])
def test_python_clients(service: RestService, tmp_path: Path, number: int) -> None:
    """The clients pysdmx and sdmx1 print what the comments say."""
    example = examples("python", service)[number]
    assert printed([sys.executable, "-W", "ignore", "-c", example], tmp_path) == stated(example, "#")


@pytest.mark.runs("docs/sdmx-clients.md", language="r")
def test_rsdmx(service: RestService, tmp_path: Path) -> None:
    """The program in R prints the codes that its comment states."""
    program = shutil.which("Rscript")
    if (
        program is None
        or subprocess.run([program, "-e", "library(rsdmx)"], capture_output=True, check=False).returncode
    ):
        pytest.skip("NOT TESTED: R or its package rsdmx is not installed (Debian: r-cran-rsdmx)")
    (example,) = examples("r", service)
    (tmp_path / "example.R").write_text(example)
    assert printed([program, "example.R"], tmp_path)[-1:] == stated(example, "#")


@pytest.mark.runs("docs/sdmx-clients.md", language="js")
def test_sdmx_rest(service: RestService, tmp_path: Path) -> None:
    """The JavaScript package fetches what it builds an address for."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("NOT TESTED: npm and node are not installed")
    install = [npm, "install", "--no-audit", "--no-fund", SDMX_REST]
    if subprocess.run(install, cwd=tmp_path, capture_output=True, timeout=RUN_S, check=False).returncode:
        pytest.skip(f"NOT TESTED: npm cannot fetch {SDMX_REST}")
    (example,) = examples("js", service)
    assert printed([node, "-e", example], tmp_path) == stated(example, "//")


@pytest.mark.runs("docs/sdmx-clients.md", language="java")
def test_sdmx_dl(service: RestService, tmp_path: Path) -> None:
    """The Java library reads flows, and the structure and codes of one."""
    java, jar = sdmx_dl()
    (example,) = examples("java", service)
    (tmp_path / "ReadStructures.java").write_text(example)
    assert printed([str(java), "-cp", str(jar), "ReadStructures.java"], tmp_path) == stated(example, "//")


@needs_curl
@pytest.mark.runs("docs/sdmx-clients.md", language="sh")
def test_curl(service: RestService, tmp_path: Path) -> None:
    """Each command with curl saves a message with the artefacts that it requests."""
    (example,) = examples("sh", service)
    printed(["sh", "-ec", example], tmp_path)
    (freq,) = read_message((tmp_path / "freq.xml").read_bytes())
    assert freq.urn.reference == "SDMX:CL_FREQ(2.1)"
    labour = {one.urn.reference for one in read_message((tmp_path / "labour.json").read_bytes())}
    assert {"KR_DEMO:LABOUR(1.0)", "KR_DEMO:DSD_LABOUR(1.0)", "SDMX:CL_FREQ(2.1)"} <= labour


@needs_curl
@pytest.mark.runs("docs/move-from-fmr.md")
def test_addresses_of_fmr(service: RestService, tmp_path: Path) -> None:
    """Each address of the page about FMR is answered, in the format that it names."""
    (example,) = examples("sh", service, "docs/move-from-fmr.md")
    lines = example.splitlines()
    assert len(lines) == 4
    for line in lines:
        assert "SDMX:CL_FREQ(2.1)" in {
            one.urn.reference
            for one in read_message("\n".join(printed(["sh", "-ec", f"{line} --silent"], tmp_path)).encode())
        }, line


@pytest.mark.parametrize(
    "api", ["ws/public/sdmxapi/rest/codelist/SDMX/CL_FREQ", "sdmx/v2/structure/codelist/SDMX/CL_FREQ"]
)
def test_formats_of_fmr(service: RestService, api: str) -> None:
    """Each name of the table is understood; those that cannot represent a codelist are refused."""
    table = FMR.partition("| `format=` |")[2].partition("\n\n")[0]
    names = re.findall(r"`([a-z0-9.-]+)`", table.replace("application/vnd.fusion.json", ""))
    assert len(names) > 15
    refused = set()
    for name in names:
        answer = plain_http.get(f"{service.address}/{api}", params={"format": name})
        if answer.status_code == 406:
            refused.add(name)
        else:
            assert answer.status_code == 200, (name, answer.text)
            assert [one.urn.id for one in read_message(answer.content)] == ["CL_FREQ"], name
    assert refused == {"edi", "excel", "sdmx-1.0", "sdmx-edi", "xlsx"}  # of a codelist of this version and texts
