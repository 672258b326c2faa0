"""The type of options that name a folder or file which the command creates, or writes if it exists."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import click

from kafka_replica.cli.transient_errors import TRANSIENT


class CreatablePath(click.Path):
    """A path at which a folder or file exists or can be created, as far as this can be known in advance.

    Args:
        is_folder: True for a folder, False for a file.
    """

    def __init__(self, *, is_folder: bool) -> None:
        super().__init__(file_okay=not is_folder, dir_okay=is_folder, writable=True, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; fail if it exists as something else, cannot be written, or is below a file."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        try:
            above = next((one for one in path.absolute().parents if one.exists()), None)
        except OSError as error:
            self.fail(f"{path}: {error.strerror}", param, ctx)
        if above is not None and not above.is_dir():
            self.fail(f"{path} cannot be created, because {above} is not a folder", param, ctx)
        if not path.exists() and above is not None and not _can_create(above):
            self.fail(f"{path} cannot be created, because {above} is not writable", param, ctx)
        return path


def _can_create(folder: Path) -> bool:
    """Return whether a folder can be created in another one, by creating and removing a temporary folder.

    Permissions alone do not show this: an administrator may write to /proc, for example, but cannot create anything
    there.
    """
    if not os.access(folder, os.W_OK | os.X_OK):
        return False
    try:
        Path(tempfile.mkdtemp(prefix=".kafka-replica-", dir=folder)).rmdir()
    except OSError as error:
        return error.errno in TRANSIENT  # if the error persists, the command itself reports it
    return True
