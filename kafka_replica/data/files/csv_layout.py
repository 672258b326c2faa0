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
"""The separator between an id and its name in files that are written. A name may contain this separator; an id never
does."""
CODE_LABEL: Final = ":"
"""The separator between a code and its name in files that are read: some services write no blank after it."""
EMPTY_VALUE: Final = '""'
"""The cell with several values whose only value is an empty text."""
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
        name_position: the number of the column with the names of its values; None if there is none.
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
        deletes: whether rows without an action are deletions, according to the rules.
    """

    version: Literal["1.0", "2.0"] | None
    labels: Labels
    separator: str
    sub_separator: str | None
    header: tuple[str, ...]
    fields: tuple[Field, ...]
    deletes: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the columns that are read."""
        return tuple(field.name for field in self.fields)

    @property
    def action_position(self) -> int | None:
        """Return the number of the column with the actions of rows; None if there is none."""
        return next((field.position for field in self.fields if field.name == "ACTION"), None)

    def may_be_nameless(self, field: Field) -> bool:
        """Return whether a row may be a deletion that gives only the name of a component's value.

        Such a row has the empty text as value, which validation reports, because no value would mean any value.
        """
        return field.name_position is not None and (self.deletes or self.action_position is not None)
