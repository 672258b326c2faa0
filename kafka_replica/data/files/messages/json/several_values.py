"""Attributes of a data set of which the message lists several values, and the data set refers to one of them.

At the level of the data set, "attributes can only have one value", so that no other value should be listed, unless the
data set refers to it in an array of indexes. Services such as the IMF's list several values (``KEYWORDS_DATASET``), and
always give the index 0.

Source: SDMX-JSON data message, field guide 2.1, ``values`` and ``maxOccurs`` of components; data sets, ``attributes``.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafka_replica.data.files.messages.json.component_values import is_index
from kafka_replica.data.files.messages.json.message_objects import DataSet, value_if_given
from kafka_replica.data.files.messages.json.structures import Components
from kafka_replica.data.files.messages.json.unread_members import UnreadMembers


class GivenIndexes:
    """The indexes by which the data sets of a message refer to the values of their attributes.

    Args:
        data_sets: each data set with the number of its structure.
    """

    def __init__(self, data_sets: Iterable[tuple[DataSet, int]]) -> None:
        self._found: dict[tuple[int, int], set[int | None]] = {}
        """The indexes by structure and place in the array of attributes; None is an array of indexes."""
        for dataset, number in data_sets:
            for place, given in enumerate(value_if_given(dataset.attributes) or ()):
                if is_index(given) or isinstance(given, list):
                    self._found.setdefault((number, place), set()).add(given if is_index(given) else None)

    def complete(self, dataset: DataSet, number: int, components: Components, path: str, unread: UnreadMembers) -> None:
        """Read all values of attributes that may have several, and note attributes of which values are not read.

        If a data set of the same structure has another index, the values are those of different data sets. In a
        deletion, an index may be that of any value.

        Args:
            dataset: the data set.
            number: the number of its structure.
            components: the components of its structure, in the order of its array of attributes.
            path: the location of the data set.
            unread: receives the notes.
        """
        if components.is_deletion:
            return
        entries = value_if_given(dataset.attributes) or ()
        for place, (attribute, given) in enumerate(zip(components.data_set, entries, strict=False)):
            count = len(attribute.listed)
            if count < 2 or not is_index(given) or self._found[number, place] != {given}:
                continue
            what = f"refers to one of the {count} values that the message lists for the attribute {attribute.id}"
            if attribute.may_be_several and given == 0:
                attribute.combine()
                unread.note_attributes(path, f"{what}, which may have several; all were read")
            else:
                unread.note_attributes(path, f"{what}; the others were not read")
