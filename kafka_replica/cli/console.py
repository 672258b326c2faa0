"""The console of commands that write coloured text and tables to the standard output."""

from __future__ import annotations

import sys
from typing import Any

from rich.console import Console
from rich.text import Text

from kafka_replica.cli.control_characters import visible
from kafka_replica.cli.output import OutputClosedError


class OutputConsole(Console):
    """A console for the standard output, whose lines are not wrapped and whose control characters are visible."""

    def __init__(self) -> None:
        super().__init__(file=sys.stdout, soft_wrap=True)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a text with its styles, and with control characters escaped."""
        return super().render_str(visible(text), **options)

    def on_broken_pipe(self) -> None:
        """Report that the reader has closed the pipe; rich would end the process with status 1."""
        raise OutputClosedError
