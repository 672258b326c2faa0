"""Remarks on elements of data sets with the action delete that delete nothing, because it is unknown what they name."""

from __future__ import annotations

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages.deletion_notes import DeletionNotes
from kafka_replica.data.files.messages.ml.events import Events


class UnclearDeletions:
    """The elements that delete nothing. Lines are those of the parser.

    Args:
        events: the parser.
    """

    def __init__(self, events: Events) -> None:
        self._events = events
        self._notes = DeletionNotes()

    @property
    def notes(self) -> tuple[str, ...]:
        """Return a remark for each kind of element: on the first one, with the number of the others."""
        return self._notes.texts

    def note_unclear(self, element: str, line: int) -> None:
        """Note a series, observation or group that names nothing, or has a part that is not read."""
        self._note(f"unclear {element}", f"the {element}", line, "names nothing, or something that is not read")

    def note_group(self, line: int) -> None:
        """Note a group that names no attribute."""
        self._note("group", "the group", line, "names no attribute")

    def note_unknown_group(self, line: int) -> None:
        """Note a group whose names may all be dimensions, as its structure is unknown."""
        what = "may have dimensions alone: without the structure's rules it is unknown whether it names an attribute"
        self._note("unknown group", "the group", line, what)

    def late(self, element: str) -> DatasetError:
        """Return the error for an unread part that may restrict what the element has already deleted."""
        return DatasetError(
            f"line {self._events.line}: a part of the {element} that is not read may restrict a deletion before it "
            "that leaves a dimension open; put it first, or leave it out"
        )

    def note_restricted(self, line: int) -> None:
        """Note an element that leaves a dimension open in a data set with a restriction that is not applied."""
        self._note(
            "restricted", "the element", line,
            "leaves a dimension open, and the data set has a restriction that is not applied, such as a data provider",
        )  # fmt: skip

    def note_unknown_attributes(self, line: int) -> None:
        """Note the attributes of a cross-sectional data set that may be dimensions, as its structure is unknown."""
        self._note(
            "data set's attributes", "the element DataSet", line,
            "has XML attributes that may be dimensions or attributes",
            "without the structure's rules, they are not deleted on their own",
        )  # fmt: skip

    def note_data_set(self, line: int) -> None:
        """Note a data set in which nothing that was read names what is deleted."""
        self._notes.add(
            "data set",
            f"the data set in line {line + self._events.skipped_lines} has the action delete, but nothing that was "
            "read names what is deleted; it deletes nothing",
        )

    def _note(self, kind: str, element: str, line: int, what: str, result: str = "it deletes nothing") -> None:
        place = f"{element} in line {line + self._events.skipped_lines} of a data set with the action delete"
        self._notes.add(kind, f"{place} {what}; {result}")
