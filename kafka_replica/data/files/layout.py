"""The layout of an SDMX-CSV file: its columns, and how the cells of each column are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Labels: TypeAlias = Literal["id", "name", "both"]
"""The labels of components and codes in a file: their ids, their names, or both."""
Form: TypeAlias = Literal["text", "values", "languages", "values in languages"]
"""The content of a cell: one value, several, one in several languages, or several in several languages."""

FORMS: Final[Mapping[str, Form]] = {"text": "text", "values": "values", "languages": "languages"}
"""The form of cells by the shape of a column, which engines determine."""
LABEL: Final = ": "
"""The separator between an id and its name in files that are written. A name may contain it; an id never does."""
CODE_LABEL: Final = ":"
"""The separator between a code and its name in files that are read: some services write no blank after it."""
UNDETERMINED: Final = "und"
"""The language tag of a text whose language is unknown (BCP 47)."""
LANGUAGE: Final = r"\A([A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*):"
"""The expression for the language tag at the beginning of a text."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a file that is read.

    Attributes:
        name: the name in a frame: the component's id, or the file's own name.
        position: the number of the column in the file, from 0.
        form: the content of its cells.
        label: the separator between ids and names in its cells; None if the cells contain no names.
        is_number: whether its cells are numbers, in which a decimal comma is replaced.
        name_position: the number of the column with the names of a dimension's codes. A row with the action delete that
            gives a name without a code has the name as value, because no value would mean any value.
    """

    name: str
    position: int
    form: Form = "text"
    label: str | None = None
    is_number: bool = False
    name_position: int | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a file.

    Attributes:
        version: the version of SDMX-CSV, where 2.0 includes 2.1; None for other CSV.
        labels: whether the file has ids, names, or both.
        separator: the separator of cells.
        sub_separator: the separator of values within a cell; None if no cell has several values.
        header: the cells of the header row, unchanged.
        fields: the columns that are read, in the order of the file. Columns of names are left out, and those of keys in
            files without deletions.
    """

    version: Literal["1.0", "2.0"] | None
    labels: Labels
    separator: str
    sub_separator: str | None
    header: tuple[str, ...]
    fields: tuple[Field, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the columns that are read."""
        return tuple(field.name for field in self.fields)
