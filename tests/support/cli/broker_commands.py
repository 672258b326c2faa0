"""The commands on a real broker, in processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass
class Command:
    """kafka-replica on one broker and topic."""

    bootstrap: str
    topic: str

    def line(self, *arguments: str) -> list[str]:
        """Return the command line."""
        where = ["--bootstrap-server", self.bootstrap, "--topic", self.topic]
        return [str(Path(sys.executable).with_name("kafka-replica")), *arguments, *where]

    def run(self, *arguments: str, status: int = 0) -> subprocess.CompletedProcess[bytes]:
        """Run a command and check its exit status."""
        done = subprocess.run(self.line(*arguments), capture_output=True, timeout=120, check=False)
        assert done.returncode == status, (done.returncode, done.stdout[-2000:], done.stderr[-2000:])
        return done

    def json(self, *arguments: str) -> list[Any]:
        """Run it with --json; every line of the output is JSON."""
        return [json.loads(line) for line in self.run(*arguments, "--json").stdout.splitlines()]
