"""``python -m fuzz``: every reader in a separate process, progress, findings, the exit status."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from fuzz.samples import ROOT
from fuzz.session import HANGS_S, repeat_of
from fuzz.targets import TARGETS

_FOLDER = ROOT / "build" / "fuzz"


def options() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0, help="for all readers together (default: 5)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--reader", choices=TARGETS, action="append", help="may be given several times; else all")
    parser.add_argument("--folder", type=Path, default=_FOLDER, help="where inputs that were not survived are kept")
    parser.add_argument("--repeat", type=Path, help="feed this file to the --reader, once, and show what comes of it")
    chosen = parser.parse_args()
    if chosen.repeat and len(chosen.reader or ()) != 1:
        parser.error("--repeat needs one --reader")
    return chosen


def run(name: str, seconds: float, seed: int, folder: Path, console: Console) -> bool:
    """Feed one reader; return True if it had no failure."""
    command = [sys.executable, "-m", "fuzz.session", name, str(seconds), str(seed), str(folder)]
    fed, finding = 0, None
    with subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for text in process.stdout:
            line: dict[str, Any] = json.loads(text)
            fed, finding = line["fed"], line["finding"]
            if console.is_terminal:
                console.print(f"{name}: {fed:,} inputs", end="\r", highlight=False)
    if finding is not None:
        console.print(f"[bold red]{name}: not survived:[/] {finding['error']}", highlight=False)
        console.print(f"  repeat: {finding['repeat']}", highlight=False, soft_wrap=True)
    elif process.returncode != 0:
        file = _left_behind(name, folder)
        console.print(f"[bold red]{name}: the process ended with {process.returncode}[/] (a hang is ended after "
                      f"{HANGS_S:g} s); repeat: {repeat_of(name, file)}", highlight=False, soft_wrap=True)  # fmt: skip
    else:
        console.print(f"{name}: {fed:,} inputs survived", highlight=False)
    return process.returncode == 0


def _left_behind(name: str, folder: Path) -> Path:
    file = folder / f"{name}-ended.bin"
    now = folder / f"{name}.now"
    if now.exists():
        now.replace(file)
    return file


def main() -> int:
    """Feed all readers; return 0 if none had a failure."""
    chosen = options()
    console = Console()
    if chosen.repeat:
        TARGETS[chosen.reader[0]].feed(chosen.repeat.read_bytes())
        console.print("survived")
        return 0
    chosen.folder.mkdir(parents=True, exist_ok=True)
    names = chosen.reader or list(TARGETS)
    seconds = chosen.minutes * 60 / len(names)
    console.print(f"{len(names)} readers, {seconds:.0f} s each, seed {chosen.seed}", highlight=False)
    survived = [run(name, seconds, chosen.seed, chosen.folder, console) for name in names]
    return 0 if all(survived) else 1


if __name__ == "__main__":
    sys.exit(main())
