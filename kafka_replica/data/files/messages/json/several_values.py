"""Attributes of a data set of which the message lists several values, and the data set refers to one of them.

At the level of the data set, "attributes can only have one value", so that no other value should be listed, unless the
data set refers to it in an array of indexes. Services such as the IMF's list several values (``KEYWORDS_DATASET``), and
always give the index 0.

Source: SDMX-JSON data message, field guide 2.1, ``values`` and ``maxOccurs`` of components; data sets, ``attributes``.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafka_replica.data.files.messages.json.component_values import is_index
from kafka_replica.data.files.messages.json.message_objects import DataSet, value_if_given
from kafka_replica.data.files.messages.json.structures import Components
from kafka_replica.data.files.messages.json.unread_members import UnreadMembers


def complete_attributes(
    dataset: DataSet, components: Components, data_sets: Sequence[DataSet], path: str, unread: UnreadMembers
) -> None:
    """Read all values of attributes that may have several, and note attributes of which values are not read.

    Args:
        dataset: the data set.
        components: the components of its structure, in the order of its array of attributes.
        data_sets: all data sets of the message. If one has another index, the values are those of different data sets.
        path: the location of the data set.
        unread: receives the notes.
    """
    arrays = [value_if_given(one.attributes) or () for one in data_sets]
    for index, (attribute, given) in enumerate(
        zip(components.data_set, value_if_given(dataset.attributes) or (), strict=False)
    ):
        count = len(attribute.listed)
        indexes = {array[index] for array in arrays if index < len(array) and is_index(array[index])}
        if count < 2 or not is_index(given) or indexes != {given}:
            continue
        what = f"refers to one of the {count} values that the message lists for the attribute {attribute.id}"
        if attribute.may_be_several and given == 0:
            attribute.combine()
            unread.note_attributes(path, f"{what}, which may have several; all were read")
        else:
            unread.note_attributes(path, f"{what}; the others were not read")
