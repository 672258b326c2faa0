"""The notebook of the documentation: its cells, executed in a kernel of their own.

``PYTHONPATH=tests python -m support.docs.notebook`` executes it with a broker and a service, and stores the outputs.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import uuid
from pathlib import Path
from typing import Any, Final

import nbformat
from nbclient import NotebookClient

from kafka_replica.embedded import ExistingKafka, LocalKafka
from support.paths import ROOT
from support.server.server_tools import ServerProcess, until_ready

NOTEBOOK: Final = ROOT / "docs" / "notebooks" / "validate.ipynb"
PROGRAM: Final = Path(sys.executable).with_name("kafka-replica")
SERVICE, BROKER, TOPIC = "http://localhost:8080", "localhost:9092", "sdmx.structures"


def executed(kafka: LocalKafka | ExistingKafka, folder: Path) -> Any:
    """Execute the notebook in a folder with the samples, with a topic and a service of its own; return it."""
    topic = f"notebook-{uuid.uuid4().hex[:12]}"
    kafka.create_topic(topic, 1, {"cleanup.policy": "compact"})
    place = ["--topic", topic, "--bootstrap-server", kafka.bootstrap_servers]
    for arguments in (["samples"], ["publish", "samples", *place]):  # as the first cell says
        subprocess.run([PROGRAM, *arguments], cwd=folder, check=True, capture_output=True)
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    with ServerProcess(folder, *place) as service:
        until_ready(service)
        names = {SERVICE: service.address, BROKER: kafka.bootstrap_servers, TOPIC: topic}
        _replace(notebook, names)
        NotebookClient(notebook, timeout=240, resources={"metadata": {"path": str(folder)}}).execute()
    _replace(notebook, {here: there for there, here in names.items()})
    return notebook


def shown(notebook: Any) -> list[list[str]]:
    """Return the texts that each cell shows, without what programs write to stderr."""
    found = []
    for cell in notebook.cells:
        outputs = cell.get("outputs", ())
        texts = [
            output.get("text") or output.get("data", {}).get("text/plain", "")
            for output in outputs
            if _is_shown(output)
        ]
        found.append(["".join(text) for text in texts])
    return found


def _is_shown(output: Any) -> bool:
    return output.get("name") != "stderr" and "image/svg+xml" not in output.get("data", {})


def _replace(notebook: Any, names: dict[str, str]) -> None:
    for cell in notebook.cells:
        for old, new in names.items():
            cell.source = cell.source.replace(old, new)


def _store() -> None:
    with LocalKafka() as kafka, tempfile.TemporaryDirectory() as folder:
        notebook = executed(kafka, Path(folder))
    for cell in notebook.cells:
        cell.metadata = {}
        cell.outputs = [one for one in cell.get("outputs", ()) if _is_shown(one)] if cell.cell_type == "code" else ()
        if cell.cell_type != "code":
            del cell["outputs"]
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(notebook, NOTEBOOK)


if __name__ == "__main__":
    _store()
