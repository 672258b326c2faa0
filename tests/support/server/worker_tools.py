"""Tools for tests of a service with several workers."""

from __future__ import annotations

import os
from pathlib import Path

import httpx
from prometheus_client.parser import text_string_to_metric_families

from support import plain_http
from support.sdmx.sdmx_json_samples import message

URN = "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=SDMX:CL_{}(1.0)"
STRUCTURES = "/sdmx/v2/structure/codelist"


def codelist(letter: str, number: int) -> bytes:
    """Return a codelist as SDMX-JSON, whose name is a number."""
    artefact = {
        "id": f"CL_{letter}", "agencyID": "SDMX", "version": "1.0", "name": str(number), "names": {"en": str(number)},
        "codes": [{"id": "A", "name": "a", "names": {"en": "a"}}],
    }  # fmt: skip
    return message({"codelists": [artefact]})


def numbers(answer: httpx.Response) -> set[str]:
    """Return the names of all codelists of an answer."""
    return {artefact["name"] for artefact in answer.json()["data"]["codelists"]}


def version_of(answer: httpx.Response) -> tuple[int, str]:
    """Return the number of the version of an answer, and its incarnation."""
    number, _, incarnation = answer.headers["kafka-replica-version"].partition(".")
    return int(number), incarnation


def worker_pids(main: int) -> list[int]:
    """Return the processes that a process has started and that have not ended."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            except OSError:
                continue  # it has ended
            if int(parent) == main and state != "Z":
                found.append(int(folder.name))
    return sorted(found)


def cpu_ticks(pid: int) -> int:
    """Return the processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def is_running(pid: int) -> bool:
    """Return whether there is a process with an id."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def counted(address: str, name: str, **labels: str) -> float:
    """Return the sum of the samples with a name and some labels, as the service counts them."""
    text = plain_http.get(f"{address}/metrics", timeout=60).text
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return sum(sample.value for sample in samples if sample.name == name and labels.items() <= sample.labels.items())
