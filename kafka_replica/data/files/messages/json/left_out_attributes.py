"""Arrays of attributes that leave out the attributes without values, as those of the IMF and of OECD.Stat do.

By the field guides, an array has an entry for each attribute at its level, and only the last entries may be omitted. An
attribute with an empty list of values has no index, so an index in its place shows that the array leaves it out. Not in
a deletion, however: there "it is sufficient to use any valid value" of an attribute, and one without values has none.

Source: SDMX-JSON data message, field guide 2.1, ``values`` of components, ``attributes`` of data sets and
series, and ``action``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import compress
from typing import Any

from kafka_replica.data.files.messages.json.component_values import ValueReader, is_index
from kafka_replica.data.files.messages.json.decoding import decode_part, message_error
from kafka_replica.data.files.messages.json.keys import member_path
from kafka_replica.data.files.messages.json.message_objects import (
    MEMBERS,
    OBSERVATIONS,
    SERIES,
    DataSet,
    Series,
    value_if_given,
)
from kafka_replica.data.files.messages.json.outline import Outline
from kafka_replica.data.files.messages.json.structures import Components
from kafka_replica.data.files.messages.json.unread_members import UnreadMembers


def arrange_attributes(
    dataset: DataSet, components: Components, outline: Outline, path: str, where: str, unread: UnreadMembers
) -> None:
    """Put the attributes of each level in the order in which the arrays of a data set have them.

    Series and observations are searched for an array that shows the order, but only if an attribute without values
    comes before one with values.

    Args:
        dataset: the data set.
        components: the components of its structure; the order of attributes is changed.
        outline: the outline of the message.
        path: the location of the data set.
        where: the file, for errors.
        unread: receives a note on each level at which arrays leave out attributes, or may do so.

    Raises:
        DatasetError: a series or observation is damaged; or the data set has the action delete, and an array may leave
            out attributes, so that it is unknown which of them it deletes.
    """
    note = partial(_refuse, path, where) if components.is_deletion else partial(_note, path, unread)
    above = [value_if_given(dataset.attributes)]
    components.data_set = _arranged(components.data_set, above, "of the data set", note)
    of_groups = (value_if_given(dataset.groups) or {}).values()
    components.group = _arranged(components.group, of_groups, "of dimension groups", note)
    of_series = (value_if_given(one.attributes) for one in _series(dataset, outline, path, where))
    components.series = _arranged(components.series, of_series, "of series", note)
    first = len(components.measures)
    of_observations = (one[first:] for one in _observations(dataset, outline, path, where) if one and len(one) > first)
    components.observation = _arranged(components.observation, of_observations, "of observations", note)


def _note(path: str, unread: UnreadMembers, what: str, how: str) -> None:
    unread.note_attributes(path, f"{what}; {how}")


def _refuse(path: str, where: str, what: str, how: str) -> None:
    del how
    raise message_error(
        where,
        f"{path} {what}, and the action delete, so it is unknown what is deleted; give each array an entry for each "
        "attribute, and a text for one without values, or remove the attributes without values",
    )


def _arranged(
    attributes: list[ValueReader],
    arrays: Iterable[Sequence[Any] | None],
    level: str,
    note: Callable[[str, str], object],
) -> list[ValueReader]:
    """Return the attributes of a level in the order of its arrays; those that arrays leave out come last."""
    if not _may_leave_out(attributes):
        return attributes
    are_left_out = _are_left_out(attributes, arrays)
    empty = [attribute for attribute in attributes if attribute.is_empty]
    without_values = f"the attributes without values ({', '.join(attribute.id for attribute in empty)})"
    if are_left_out is None:
        note(
            f"has arrays of attributes {level} that may leave out {without_values}", "they were read as if they did not"
        )
    if not are_left_out:
        return attributes
    note(
        f"has arrays of attributes {level} that leave out {without_values}",
        "their entries were read as those of the other attributes",
    )
    for attribute in attributes:
        attribute.is_left_out = attribute.is_empty
        attribute.takes_texts = False  # one would show that its array is complete
    return [*(attribute for attribute in attributes if not attribute.is_empty), *empty]


def _may_leave_out(attributes: Sequence[ValueReader]) -> bool:
    """Return whether all attributes list their values, and leaving out the empty ones changes the place of another."""
    empty = [attribute.is_empty for attribute in attributes]
    return (
        True in empty
        and False in empty[empty.index(True) :]
        and all(attribute.is_empty or attribute.listed for attribute in attributes)
    )


def _are_left_out(attributes: Sequence[ValueReader], arrays: Iterable[Sequence[Any] | None]) -> bool | None:
    """Return whether arrays leave out the attributes without values; None if each array could be meant both ways."""
    empty = [attribute.is_empty for attribute in attributes]
    first, count = empty.index(True), empty.count(False)
    is_unclear, are_equally_long = False, True
    for array in arrays:
        if not array:
            continue
        size = len(array)
        if size > count:
            return False
        are_equally_long = are_equally_long and size == count
        if array.count(None) == size:
            continue
        if not all(map(_is_of_indexes, array)):
            return False
        if size == count and any(map(_has_index, compress(array, empty))):
            return True
        is_unclear = is_unclear or any(map(_has_index, array[first:]))
    return None if is_unclear and are_equally_long else False


def _is_of_indexes(entry: Any) -> bool:
    """Return whether an entry has an index, several, or none, and no text."""
    if isinstance(entry, list):
        return all(one is None or is_index(one) for one in entry)
    return entry is None or is_index(entry)


def _has_index(entry: Any) -> bool:
    """Return whether an entry has an index; an empty list has none."""
    return is_index(entry) or (isinstance(entry, list) and any(map(is_index, entry)))


def _series(dataset: DataSet, outline: Outline, path: str, where: str) -> Iterator[Series]:
    path = f"{path}.series"
    for members, _ in outline.parts_of(value_if_given(dataset.series)).decoded(MEMBERS, path):
        for key, raw in members.items():
            yield decode_part(SERIES, raw, where, member_path(path, key))


def _observations(dataset: DataSet, outline: Outline, path: str, where: str) -> Iterator[Sequence[Any] | None]:
    for series in _series(dataset, outline, path, where):
        yield from (value_if_given(series.observations) or {}).values()
    flat = outline.parts_of(value_if_given(dataset.observations))
    for observations, _ in flat.decoded(OBSERVATIONS, f"{path}.observations"):
        yield from observations.values()
