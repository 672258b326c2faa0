"""The forms of columns of a message that is read in batches: a column must have the same form in all batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.csv_layout import UNDETERMINED


class ColumnForm(NamedTuple):
    """The form of a column.

    Attributes:
        several: whether a row may have several values.
        languages: whether values are texts by language.
    """

    several: bool = False
    languages: bool = False

    def common(self, other: ColumnForm) -> ColumnForm:
        """Return the form in which the values of columns of both forms can be represented."""
        return ColumnForm(self.several or other.several, self.languages or other.languages)


FORM_OF_SHAPE: Final = {
    "text": ColumnForm(),
    "languages": ColumnForm(languages=True),
    "values": ColumnForm(several=True),
}
"""The form of a column whose values have this shape; other shapes have none."""


def common_form(name: str, forms: Mapping[str, ColumnForm | None], files: str) -> ColumnForm:
    """Return a form that can represent all values of a column whose type differs between files.

    Args:
        name: the column.
        forms: the form of each type, by the type's name; None if its values are neither texts nor several texts.
        files: the files, for errors.

    Raises:
        DatasetError: a type has no form, so that the values cannot be combined.
    """
    common = ColumnForm()
    for form in forms.values():
        if form is None:
            raise DatasetError(
                f"reading {files}: column {name} has values of different types that cannot be combined: "
                f"{', '.join(sorted(forms))}; read these files separately"
            )
        common = common.common(form)
    return common


def in_form(value: Any, old: ColumnForm, new: ColumnForm) -> Any:
    """Convert a value of a row, or None, from the form of its column to another form that can represent it."""
    if value is None:
        return None
    values = value if old.several else [value]
    if new.languages and not old.languages:
        values = [None if each is None else [{"language": UNDETERMINED, "text": each}] for each in values]
    return list(values) if new.several else values[0]
