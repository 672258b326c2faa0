"""How the columns of an SDMX-CSV file are laid out, and how the cells of each are to be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Labels: TypeAlias = Literal["id", "name", "both"]
Form: TypeAlias = Literal["text", "values", "languages", "values in languages"]
"""What a cell holds: one value, several, one in several languages, several in several languages."""

FORMS: Final[Mapping[str, Form]] = {"text": "text", "values": "values", "languages": "languages"}
"""By the shape of a column, as engines call it."""
LABEL: Final = ": "
"""What stands between an id and its name. A name may hold it, too; an id never does."""
UNDETERMINED: Final = "und"
"""The language of a text that does not say its language (BCP 47)."""
LANGUAGE: Final = r"\A([A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*):"
"""What a text in a language begins with."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a file that is read.

    Attributes:
        name: what it is called in a frame: the component's id, or what the file calls it.
        position: which column of the file it is, from 0.
        form: what its cells hold.
        is_labelled: whether its cells are ``ID: name``.
        is_number: whether its cells are numbers, for decimal commas.
    """

    name: str
    position: int
    form: Form = "text"
    is_labelled: bool = False
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a file.

    Attributes:
        version: of SDMX-CSV; 2.0 stands for 2.1 as well; None for other CSV.
        labels: how names are given.
        separator: between cells.
        sub_separator: between values within a cell; None if there are no such cells.
        header: the cells of the first row, as they stand there.
        fields: the columns that are read, in the order of the file. Names and keys are left out.
    """

    version: Literal["1.0", "2.0"] | None
    labels: Labels
    separator: str
    sub_separator: str | None
    header: tuple[str, ...]
    fields: tuple[Field, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns that are read."""
        return tuple(field.name for field in self.fields)
