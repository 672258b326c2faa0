"""The console of commands that write coloured text and tables to the standard output."""

from __future__ import annotations

import sys

from rich.console import Console

from kafka_replica.cli.output import OutputClosedError


class OutputConsole(Console):
    """A console for the standard output, whose lines are not wrapped."""

    def __init__(self) -> None:
        super().__init__(file=sys.stdout, soft_wrap=True)

    def on_broken_pipe(self) -> None:
        """Report that the reader has closed the pipe; rich would end the process with status 1."""
        raise OutputClosedError
