"""Data sets as blocks of rows: one or more for a long series, one for several small ones; see ``_AT_ONCE``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final

from msgspec import Raw

from kafka_replica.common.garbage_collector import collector_paused
from kafka_replica.data.files.messages.blocks import TEXTS, Block
from kafka_replica.data.files.messages.json.decoding import decoded, failure
from kafka_replica.data.files.messages.json.groups import Groups, attributes_of, check_annotation, groups_of
from kafka_replica.data.files.messages.json.keys import Paths, key_columns, member, pointer
from kafka_replica.data.files.messages.json.outline import Outline
from kafka_replica.data.files.messages.json.parts import ObjectParts
from kafka_replica.data.files.messages.json.repeated_keys import (
    are_all_decoded,
    check_no_key_repeats,
    colons_in,
    keys_in,
    members_of,
)
from kafka_replica.data.files.messages.json.series_batch import SeriesBatch
from kafka_replica.data.files.messages.json.structures import Components
from kafka_replica.data.files.messages.json.unread_members import UnreadMembers
from kafka_replica.data.files.messages.json.values import OMITTED, ValueReader
from kafka_replica.data.files.messages.json.wire import (
    MEMBERS,
    OBSERVATIONS,
    SERIES,
    DataSet,
    Series,
    Values,
    given,
)
from kafka_replica.data.validation.actions import SWITCHED_OFF

_AT_ONCE: Final = 8192
"""The number of observations at which a block ends, after the current series if it is shorter than that; larger blocks
need more memory and are not faster."""


class DataSetReader:
    """A reader of one data set.

    Args:
        dataset: the data set.
        components: the components of its structure.
        standing: the columns that all its rows share: the structure and the action.
        path: the location of the data set, for errors.
        at: the location of the data set, as a JSON Pointer.
        where: the file, for errors.

    """

    def __init__(
        self, dataset: DataSet, components: Components, standing: Mapping[str, str], path: str, at: str, where: str
    ) -> None:
        self._keys = 0
        """The number of keys in the JSON objects of the series and observations that have been read."""
        self._dataset = dataset
        self._components = components
        self._standing = standing
        self._path = path
        self._at = at
        self._where = where
        self._deletes = standing["ACTION"] == "D"
        # According to the guides, partial keys order dimensions by position; in their samples, by their order in the
        # message.
        orders = [components.by_position, components.dimensions]
        found = groups_of(
            given(dataset.groups) or {}, orders, components.group, f"{path}.dimensionGroupAttributes", where
        )
        self._groups = Groups(found, components.group, where)
        # In a deletion, the attributes of each level are deleted on their own, so rows inherit nothing.
        self._inherited = Groups([], [], where) if self._deletes else self._groups

    def blocks(self, outline: Outline, unread: UnreadMembers, *, has_unread: bool) -> Iterator[Block]:
        """Yield the rows.

        A data set that deletes, and names nothing, is a row that deletes all data.

        Args:
            outline: the outline of the message, which leaves out series and observations.
            unread: collects the unknown members of series, and notes a deletion that deletes nothing.
            has_unread: whether the data set has unknown members, which may name what is deleted.

        Raises:
            DatasetError: the data set violates the standard; the message names the location.
        """
        dataset = self._dataset
        above = self._attributes(self._components.data_set, given(dataset.attributes), self._path)
        fixed = self._fixed()
        inherited = {} if self._deletes else above
        has_rows = False
        for blocks in self._in_series(outline.parts_of(given(dataset.series)), fixed, inherited, unread):
            yield from blocks
            has_rows = True
        for blocks in self._flat(outline.parts_of(given(dataset.observations)), fixed, inherited):
            yield from blocks
            has_rows = True
        are_apart = _has_value(above) and (self._deletes or not has_rows)
        names_attributes = bool(given(dataset.groups)) or bool(given(dataset.attributes))
        is_bare = not (has_rows or has_unread or names_attributes)
        if are_apart or (self._deletes and is_bare):
            yield self._alone(fixed, above, {}, self._at)
        elif self._deletes and not (has_rows or self._groups.unused):
            unread.note_empty_deletion(self._path)
        for group in self._groups.unused:
            at = pointer(self._at, "dimensionGroupAttributes", group.written)
            yield self._alone(fixed | group.key, {}, group.attributes, at)

    def _fixed(self) -> dict[str, Any]:
        """Return the value of each dimension at the level of the data set; a deletion may omit dimensions."""
        for one in self._components.of_data_set:
            if len(one.listed) > 1:
                raise failure(
                    self._where, f"{one.path}: a dimension of the data set has one value, and {one.id} has "
                    f"{len(one.listed)}"
                )  # fmt: skip
        return {one.id: one.listed[0] for one in self._components.of_data_set if one.listed}

    def _attributes(self, attributes: Sequence[ValueReader], values: Values, path: str) -> dict[str, Any]:
        found = attributes_of(attributes, values, f"{path}.attributes", self._where)
        return {attribute.id: attribute.default for attribute in attributes} | found

    def _in_series(
        self, parts: ObjectParts, fixed: dict[str, Any], above: dict[str, Any], unread: UnreadMembers
    ) -> Iterator[Sequence[Block]]:
        """Yield the rows of series; those of small ones together, if no group depends on their keys."""
        path = f"{self._path}.series"
        for series, text in parts.decoded(MEMBERS, path):
            keys_before = self._keys
            left = iter(series.items())
            while True:
                # Garbage collection is paused, because it would traverse the many lists of a series several times.
                with collector_paused():
                    blocks = self._next_series(left, fixed, above)
                if blocks is None:
                    break
                yield blocks
            if not are_all_decoded(text, self._keys - keys_before + len(series), colons_in(series)):
                check_no_key_repeats(text, self._where)
                unread.search_series(text, path)

    def _flat(self, parts: ObjectParts, fixed: dict[str, Any], above: dict[str, Any]) -> Iterator[Sequence[Block]]:
        """Yield the rows of observations without series."""
        # The keys of observations begin with the dimensions of series, if the structure has any.
        dimensions = [*self._components.of_series, *self._components.of_observation]
        for observations, text in parts.decoded(OBSERVATIONS, f"{self._path}.observations"):
            keys_before = self._keys
            with collector_paused():
                places = (self._path, self._at)
                blocks = [*self._of_observations(fixed, above, {}, observations, places, dimensions)]
            yield blocks
            if not are_all_decoded(text, self._keys - keys_before + len(observations), colons_in(observations)):
                check_no_key_repeats(text, self._where)

    def _next_series(
        self, left: Iterator[tuple[str, Raw]], fixed: dict[str, Any], above: dict[str, Any]
    ) -> list[Block] | None:
        """Return the rows of as many small series as a block may have, or up to a long one; None at the end."""
        batch = SeriesBatch(self._path, self._at)
        for key, raw in left:
            path = member(f"{self._path}.series", key)
            series, observations = self._decoded(path, raw)
            is_apart = self._deletes and bool(given(series.attributes))
            if not observations or len(observations) >= _AT_ONCE or is_apart or not self._inherited.are_none:
                before = [self._of_batch(batch, fixed, above)] if batch.size else []
                return [*before, *self._of_series(path, key, series, observations, fixed, above)]
            attributes = self._attributes(self._components.series, given(series.attributes), path)
            batch.add(key, attributes, observations)
            if batch.size >= _AT_ONCE:
                break
        return [self._of_batch(batch, fixed, above)] if batch.size else None

    def _decoded(self, path: str, raw: Raw) -> tuple[Series, dict[str, Values]]:
        """Return a series and its observations; count its keys."""
        series = decoded(SERIES, raw, self._where, path)
        observations = given(series.observations) or {}
        self._keys += len(members_of(series)) + len(observations) + keys_in([given(series.attributes)])
        return series, observations

    def _of_batch(self, batch: SeriesBatch, fixed: dict[str, Any], above: dict[str, Any]) -> Block:
        """Return the rows of several series, in whose columns nothing is shared but what the data set determines."""
        paths = batch.paths()
        series_paths = Paths(f"{self._path}.series", batch.keys)
        dimensions = key_columns(self._components.of_series, batch.keys, series_paths, self._where)
        varying: dict[str, Sequence[Any]] = {name: batch.repeated(column) for name, column in dimensions.items()}
        varying |= {name: [value] * batch.size for name, value in above.items()}
        texts = {name for name, value in above.items() if type(value) in TEXTS}
        shared = {**self._standing, **fixed}
        for name in batch.attributes[0]:
            default = above.get(name, shared.get(name))
            values = [attribute[name] if attribute[name] is not None else default for attribute in batch.attributes]
            varying[name] = batch.repeated(values)
            texts = texts | {name} if TEXTS.issuperset(map(type, values)) else texts - {name}
        varying |= batch.observation_columns(self._components.of_observation, paths, self._where)
        texts |= {dimension.id for dimension in self._components.dimensions if dimension.are_texts}
        own_values, own_texts = self._values(batch.values, paths)
        # A value of a higher level, where there is none, may be several.
        higher = {name for name in own_values if name in varying or name in shared}
        texts = (texts | own_texts) - higher
        varying |= _filled(own_values, shared, varying)
        shared = {name: each for name, each in shared.items() if name not in varying}
        return Block(batch.size, shared, varying, paths=batch.pointers(), texts=texts)

    def _of_series(
        self,
        path: str,
        key: str,
        series: Series,
        observations: dict[str, Values],
        fixed: dict[str, Any],
        above: dict[str, Any],
    ) -> list[Block]:
        dimensions = key_columns(self._components.of_series, [key], [path], self._where)
        own = fixed | {name: column[0] for name, column in dimensions.items()}
        attributes = self._attributes(self._components.series, given(series.attributes), path)
        at = pointer(self._at, "series", key)
        if not observations:
            return [self._alone(own, above, attributes, at)]
        names = self._components.of_observation
        apart: list[Block] = []
        if self._deletes:
            apart = [self._alone(own, {}, attributes, at)] if _has_value(attributes) else []
            attributes = {}
        return [*apart, *self._of_observations(own, above, attributes, observations, (path, at), names)]

    def _alone(self, own: dict[str, Any], above: dict[str, Any], attributes: dict[str, Any], at: str) -> Block:
        """Return a row that has only attributes: its other dimensions are ``~``, or left out in a deletion."""
        others = [dimension.id for dimension in self._components.dimensions if dimension.id not in own]
        off = {} if self._deletes else dict.fromkeys(others, SWITCHED_OFF)
        row = {**self._standing, **own, **off}
        return Block(1, _over(_over(row | above, self._inherited.shared(row)), attributes), {}, paths=[at])

    def _of_observations(
        self, own: dict[str, Any], above: dict[str, Any], attributes: dict[str, Any],
        observations: Mapping[str, Values], within: tuple[str, str], dimensions: Sequence[ValueReader],
    ) -> Iterator[Block]:  # fmt: skip
        path, at = f"{within[0]}.observations", pointer(within[1], "observations")
        keys, values = list(observations), list(observations.values())
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            paths = Paths(path, some)
            varying = key_columns(dimensions, some, paths, self._where)
            shared = {**self._standing, **own, **above}
            if self._inherited.vary_with(varying):
                of_groups = _filled(self._inherited.columns(len(some), own, varying), shared, {})
                varying |= {name: column for name, column in of_groups.items() if attributes.get(name) is None}
            else:
                shared = _over(shared, self._inherited.shared(own))
            shared = _over(shared, attributes)
            own_values, _ = self._values(values[start : start + _AT_ONCE], paths)
            varying |= _filled(own_values, shared, varying)
            shared = {name: value for name, value in shared.items() if name not in varying}
            yield Block(len(some), shared, varying, paths=Paths(at, some, pointer))

    def _values(self, rows: Sequence[Values], paths: Sequence[str]) -> tuple[dict[str, Sequence[Any]], set[str]]:
        """Return the measures and attributes of observations as columns, and the columns that are known to be texts."""
        columns = _columns(rows)
        components = [*self._components.measures, *self._components.observation]
        found: dict[str, Sequence[Any]] = {}
        texts = {each.id for each in components if each.are_texts}
        for place, component in enumerate(components):
            if place < len(columns):
                column = columns[place]
                kinds = set(map(type, column))
                if dict in kinds or list in kinds:
                    self._keys += keys_in(column)
                    texts.discard(component.id)
                found[component.id] = component.column(column, kinds, paths, place)
            else:
                found[component.id] = [component.default] * len(rows)
        for place, column in enumerate(columns[len(components) :], len(components)):
            for i, one in enumerate(column):
                if one is not OMITTED:
                    check_annotation(one, f"{paths[i]}[{place}]", self._where)
        return found, texts


def _has_value(row: Mapping[str, Any]) -> bool:
    return any(value is not None for value in row.values())


def _columns(rows: Sequence[Values]) -> list[tuple[Any, ...]]:
    """Return the values of observations as columns, with OMITTED where a row is too short.

    Rows usually have the same length, and zip() is then faster than zip_longest().
    """
    try:
        return [*zip(*rows, strict=True)]  # a None among them is a TypeError
    except (TypeError, ValueError):
        return [*zip_longest(*[row or () for row in rows], fillvalue=OMITTED)]


def _over(row: dict[str, Any], lower: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with the values of a lower level added; the lower level wins if both have a value."""
    return row | {name: value for name, value in lower.items() if value is not None or name not in row}


def _filled(
    columns: Mapping[str, Sequence[Any]], shared: Mapping[str, Any], varying: Mapping[str, Sequence[Any]]
) -> dict[str, Sequence[Any]]:
    """Return columns with the values of a higher level where they have none: of all rows, or of each row."""
    found = dict(columns)
    for name, column in columns.items():
        if name in varying:
            found[name] = [one if one is not None else other for one, other in zip(column, varying[name], strict=True)]
        elif shared.get(name) is not None:
            higher = shared[name]
            found[name] = [one if one is not None else higher for one in column]
    return found
