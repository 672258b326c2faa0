"""The forms of columns of a message that is read in batches: a column must have the same form in all batches."""

from __future__ import annotations

from typing import Any, NamedTuple

from kafka_replica.data.files.layout import UNDETERMINED


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


def in_form(value: Any, old: ColumnForm, new: ColumnForm) -> Any:
    """Return a value of a row, or None, in another form, in which it can be represented."""
    if value is None:
        return None
    values = value if old.several else [value]
    if new.languages and not old.languages:
        values = [None if each is None else [{"language": UNDETERMINED, "text": each}] for each in values]
    return list(values) if new.several else values[0]
