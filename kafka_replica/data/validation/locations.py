"""The location of a row in the files of a data set."""

from __future__ import annotations

from typing import NamedTuple


class Location(NamedTuple):
    """The location of a row in the files of a data set; unknown values are None.

    Attributes:
        file: the file, ``archive.zip!/data.csv`` for a file in an archive, ``-`` for standard input.
        line: the line of a text file on which the row begins, from 1; in SDMX-ML the line of the element of its
            observation, series or group.
        row: the number of the row in the file, from 1, headers not included.
        part: the row group of a Parquet file, from 0, or the sheet of a workbook.
        part_row: the number of the row in this part, from 1; that of a sheet as its program shows it.
        path: the observation, series, group or data set of the row in a message of SDMX-JSON, as a JSON Pointer.
    """

    file: str | None = None
    line: int | None = None
    row: int | None = None
    part: str | None = None
    part_row: int | None = None
    path: str | None = None

    def __str__(self) -> str:
        where = [] if self.file is None else [self.file]
        if self.part is not None and not self.part.isdecimal():
            where += [f"sheet {self.part}", f"row {self.part_row}"]
        elif self.line is not None:
            where.append(f"line {self.line}")
        elif self.row is not None:
            where.append(f"row {self.row}")
        if self.path is not None:
            where.append(self.path)
        return ", ".join(where)
