"""Run the programs that checks need."""

import subprocess
import sys
from pathlib import Path


def output_of(
    check: str, folder: Path | str, *command: object, fails: bool | None = False, or_else: str | None = None
) -> str:
    """Run a command; return its output without surrounding whitespace, or end the check with its output.

    Args:
        check: the name of the check, for the message.
        folder: the working directory of the command.
        command: the program and its arguments.
        fails: whether the command has to fail; None accepts both.
        or_else: the result if the command fails; None ends the check then.
    """
    words = [*map(str, command)]
    process = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if process.returncode and or_else is not None:
        return or_else
    if fails is not None and bool(process.returncode) != fails:
        sys.exit(f"{check}: {' '.join(words)}\n{process.stdout}{process.stderr}")
    return process.stdout.strip()
