"""Read data sets as blocks of rows: a long series becomes one or more blocks, and small series share a block."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import zip_longest
from typing import Any, Final

from msgspec import UNSET, Raw

from kafka_replica.common.garbage_collector import collector_paused
from kafka_replica.data.files.messages.blocks import TEXTS, Block
from kafka_replica.data.files.messages.json.component_values import OMITTED, ValueReader
from kafka_replica.data.files.messages.json.decoding import decode_part, message_error
from kafka_replica.data.files.messages.json.dimension_groups import (
    Group,
    Groups,
    attributes_of,
    check_annotation,
    groups_of,
)
from kafka_replica.data.files.messages.json.keys import Paths, json_pointer, key_columns, member_path
from kafka_replica.data.files.messages.json.message_objects import (
    MEMBERS,
    OBSERVATIONS,
    SERIES,
    DataSet,
    Series,
    Values,
    value_if_given,
)
from kafka_replica.data.files.messages.json.object_parts import ObjectParts
from kafka_replica.data.files.messages.json.open_rows import without_open_rows
from kafka_replica.data.files.messages.json.outline import Outline
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
from kafka_replica.data.validation.actions import SWITCHED_OFF

_AT_ONCE: Final = 8192
"""The number of observations at which a block ends, after the current series if it is shorter than that; larger blocks
need more memory and are not faster."""


_NOWHERE: Final = (
    "presents attributes that are attached below it, and has no series or observation to which they belong"
)


class DataSetReader:
    """A reader of one data set.

    Args:
        dataset: the data set.
        components: the components of its structure.
        structure_columns: the columns that all its rows share: the structure and the action.
        path: the location of the data set, for errors.
        at: the location of the data set, as a JSON Pointer.
        where: the file, for errors.

    """

    def __init__(
        self,
        dataset: DataSet,
        components: Components,
        structure_columns: Mapping[str, str],
        path: str,
        at: str,
        where: str,
    ) -> None:
        self._keys = 0
        """The number of keys in the JSON objects of the series and observations that have been read."""
        self._dataset = dataset
        self._components = components
        self._structure_columns = structure_columns
        self._path = path
        self._at = at
        self._where = where
        self._deletes = structure_columns["ACTION"] == "D"
        # According to the guides, partial keys order dimensions by position; in their samples, by their order in the
        # message.
        orders = [components.by_position, components.dimensions]
        found = groups_of(
            value_if_given(dataset.groups) or {}, orders, components.group, f"{path}.dimensionGroupAttributes", where
        )
        # In a deletion, attributes are deleted at the level to which they are attached, which may not be that at which
        # the message presents them. Rows of lower levels inherit the others.
        apart = [_part(group, self._apart(components.group, group.key)) for group in found] if self._deletes else found
        rest = [_part(group, group.attributes.keys() - one.attributes) for group, one in zip(found, apart, strict=True)]
        self._groups = Groups([group for group in apart if group.attributes], components.group, where)
        self._inherited = self._groups
        if self._deletes:
            self._inherited = Groups([group for group in rest if group.attributes], components.group, where)

    def blocks(self, outline: Outline, unread: UnreadMembers, *, has_unread: bool, is_failed: bool) -> Iterator[Block]:
        """Yield the rows.

        A deletion without any member that could name data is a row that deletes all data. If a deletion may have a
        restriction that is not applied here, rows that leave a dimension open are left out.

        Args:
            outline: the outline of the message, which leaves out series and observations.
            unread: collects the unknown members of series, and notes a deletion that deletes nothing.
            has_unread: whether the data set has unknown members, which may name or restrict what is deleted.
            is_failed: whether the message reports errors, which may be why the data set names nothing.

        Raises:
            DatasetError: the data set violates the standard; the message names the location.
        """
        dataset = self._dataset
        is_restricted = has_unread or _has_any(dataset.reporting_begin, dataset.reporting_end)
        is_restricted |= self._fixed().keys() != {one.id for one in self._components.of_data_set}
        # These members select no data; but a data set with them that names nothing else does not mean all data.
        is_described = _has_any(
            dataset.valid_from, dataset.valid_to, dataset.publication_year, dataset.publication_period
        )  # fmt: skip
        blocks = self._all_blocks(outline, unread, may_delete_all=not (is_restricted or is_described or is_failed))
        if not (self._deletes and is_restricted):
            yield from blocks
            return
        dimensions = [one.id for one in self._components.dimensions]
        for block in blocks:
            closed = without_open_rows(block, dimensions)
            if closed is not None:
                yield closed
            if closed is not block:
                unread.note_deletion(
                    self._path, "has a member that restricts it and is not applied, or a dimension without values",
                    "rows that leave a dimension open delete nothing",
                    block.size - (0 if closed is None else closed.size),
                )  # fmt: skip

    def _all_blocks(self, outline: Outline, unread: UnreadMembers, *, may_delete_all: bool) -> Iterator[Block]:
        """Yield the rows, whether or not they leave dimensions open."""
        dataset = self._dataset
        above = self._attributes(self._components.data_set, value_if_given(dataset.attributes), self._path)
        fixed = self._fixed()
        apart = self._apart(self._components.data_set, self._fixed()) if self._deletes else frozenset()
        inherited = {name: value for name, value in above.items() if name not in apart}
        has_rows = False
        for blocks in self._in_series(outline.parts_of(value_if_given(dataset.series)), fixed, inherited, unread):
            yield from blocks
            has_rows = True
        for blocks in self._flat(outline.parts_of(value_if_given(dataset.observations)), fixed, inherited):
            yield from blocks
            has_rows = True
        yield from self._own_rows(fixed, above, apart, unread, has_rows=has_rows, may_delete_all=may_delete_all)

    def _own_rows(
        self, fixed: dict[str, Any], above: dict[str, Any], apart: AbstractSet[str], unread: UnreadMembers, *,
        has_rows: bool, may_delete_all: bool,
    ) -> Iterator[Block]:  # fmt: skip
        """Yield the rows that belong to no series or observation: those of attributes, and the deletion of all data."""
        deletes_all = False
        groups = self._groups.unused
        if self._deletes:
            apart = apart if has_rows else apart | self._unrelated(self._components.data_set)
            if not has_rows and _has_value({name: value for name, value in above.items() if name not in apart}):
                unread.note_deletion(f"{self._path}.attributes", _NOWHERE)
            above = {name: value for name, value in above.items() if name in apart}
            groups = [*groups, *self._groups_of_no_row(unread)]
            dataset = self._dataset
            members = (dataset.series, dataset.observations, dataset.groups, dataset.attributes)
            deletes_all = may_delete_all and all(member is UNSET for member in members)
        are_apart = _has_value(above) and (self._deletes or not has_rows)
        if are_apart or deletes_all:
            yield self._alone(fixed, above, {}, self._at, inherits=not self._deletes)
        elif self._deletes and not (has_rows or groups):
            unread.note_empty_deletion(self._path)
        for group in groups:
            at = json_pointer(self._at, "dimensionGroupAttributes", group.written)
            yield self._alone(fixed | group.key, {}, group.attributes, at, inherits=not self._deletes)

    def _groups_of_no_row(self, unread: UnreadMembers) -> Iterator[Group]:
        """Yield the attributes to delete of groups without rows; note those that are attached to a lower level.

        If the message does not state the attachment of an attribute, it is deleted at the level that presents it.
        """
        unrelated = self._unrelated(self._components.group)
        for group in self._inherited.unused:
            part = _part(group, unrelated)
            if len(part.attributes) < len(group.attributes):
                unread.note_deletion(group.path, _NOWHERE)
            if part.attributes:
                yield part

    @staticmethod
    def _apart(attributes: Sequence[ValueReader], dimensions: Collection[str]) -> AbstractSet[str]:
        """Return the attributes that are attached to some or all of these dimensions, and to no others."""
        return {attribute.id for attribute in attributes if attribute.is_attached_to(dimensions)}

    @staticmethod
    def _unrelated(attributes: Sequence[ValueReader]) -> AbstractSet[str]:
        """Return the attributes whose attachment the message does not state."""
        return {attribute.id for attribute in attributes if not attribute.relationship}

    def _fixed(self) -> dict[str, Any]:
        """Return the value of each dimension at the level of the data set; a deletion may omit dimensions."""
        for one in self._components.of_data_set:
            if len(one.listed) > 1:
                raise message_error(
                    self._where, f"{one.path}: a dimension of the data set has one value, and {one.id} has "
                    f"{len(one.listed)}"
                )  # fmt: skip
            if self._deletes and one.listed == [None]:
                raise message_error(
                    self._where, f"{one.path}: the value of {one.id} is empty, so it is unknown what is deleted"
                )  # fmt: skip
        return {one.id: one.listed[0] for one in self._components.of_data_set if one.listed}

    def _attributes(self, attributes: Sequence[ValueReader], values: Values, path: str) -> dict[str, Any]:
        found = attributes_of(attributes, values, f"{path}.attributes", self._where)
        return {attribute.id: attribute.default for attribute in attributes} | found

    def _in_series(
        self, parts: ObjectParts, fixed: dict[str, Any], above: dict[str, Any], unread: UnreadMembers
    ) -> Iterator[Sequence[Block]]:
        """Yield the rows of series; small series share a block if no group depends on their keys."""
        path = f"{self._path}.series"
        for series, text in parts.decoded(MEMBERS, path):
            keys_before = self._keys
            left = iter(series.items())
            while True:
                # Garbage collection is paused, because it would traverse the many lists of a series several times.
                with collector_paused():
                    blocks = self._next_series(left, fixed, above, unread)
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
        self, left: Iterator[tuple[str, Raw]], fixed: dict[str, Any], above: dict[str, Any], unread: UnreadMembers
    ) -> list[Block] | None:
        """Return the rows of as many small series as a block may have, or up to a long one; None at the end."""
        batch = SeriesBatch(self._path, self._at)
        for key, raw in left:
            path = member_path(f"{self._path}.series", key)
            series, observations = self._decoded(path, raw)
            if self._deletes and self._is_unclear(key, series, observations, raw, path):
                unread.note_deletion(
                    path, "names no observation or not all dimensions, and has a member that is not read or an "
                    "attribute without value"
                )  # fmt: skip
                continue
            is_apart = self._deletes and bool(value_if_given(series.attributes))
            if not observations or len(observations) >= _AT_ONCE or is_apart or not self._inherited.are_none:
                before = [self._of_batch(batch, fixed, above)] if batch.size else []
                of_series = self._of_series(path, key, series, observations, fixed, above)
                if self._deletes and not observations and not value_if_given(series.attributes):
                    self._note_inherited(path, of_series[0], unread)
                return [*before, *of_series]
            attributes = self._attributes(self._components.series, value_if_given(series.attributes), path)
            batch.add(key, attributes, observations)
            if batch.size >= _AT_ONCE:
                break
        return [self._of_batch(batch, fixed, above)] if batch.size else None

    def _is_unclear(self, key: str, series: Series, observations: dict[str, Values], raw: Raw, path: str) -> bool:
        """Return whether a series has a part without a value, or an unread part, so that it may not mean all data."""
        if observations and not any("" in one.split(":") for one in (key, *observations)):
            return False
        attributes = self._attributes(self._components.series, value_if_given(series.attributes), path)
        names_no_value = not observations and bool(value_if_given(series.attributes)) and not _has_value(attributes)
        return names_no_value or not MEMBERS.decode(raw).keys() <= {*Series.__struct_encode_fields__}

    def _note_inherited(self, path: str, row: Block, unread: UnreadMembers) -> None:
        """Note a series that is not deleted as a whole, because it inherits attributes to delete."""
        own = {*self._structure_columns, *(dimension.id for dimension in self._components.dimensions)}
        if _has_value({name: value for name, value in row.shared.items() if name not in own}):
            unread.note_deletion(
                path, "has attributes that are presented above it", "only these are deleted, not the whole series"
            )

    def _decoded(self, path: str, raw: Raw) -> tuple[Series, dict[str, Values]]:
        """Return a series and its observations; count its keys."""
        series = decode_part(SERIES, raw, self._where, path)
        observations = value_if_given(series.observations) or {}
        self._keys += len(members_of(series)) + len(observations) + keys_in([value_if_given(series.attributes)])
        return series, observations

    def _of_batch(self, batch: SeriesBatch, fixed: dict[str, Any], above: dict[str, Any]) -> Block:
        """Return the rows of several series as one block, which shares only the values of the data set."""
        paths = batch.paths()
        series_paths = Paths(f"{self._path}.series", batch.keys)
        dimensions = key_columns(self._components.of_series, batch.keys, series_paths, self._where)
        varying: dict[str, Sequence[Any]] = {name: batch.repeated(column) for name, column in dimensions.items()}
        varying |= {name: [value] * batch.size for name, value in above.items()}
        texts = {name for name, value in above.items() if type(value) in TEXTS}
        shared = {**self._structure_columns, **fixed}
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
        attributes = self._attributes(self._components.series, value_if_given(series.attributes), path)
        at = json_pointer(self._at, "series", key)
        if not observations:
            return [self._alone(own, above, attributes, at)]
        names = self._components.of_observation
        apart: list[Block] = []
        if self._deletes:
            ids = self._apart(self._components.series, own)
            alone = {name: value for name, value in attributes.items() if name in ids}
            apart = [self._alone(own, {}, alone, at, inherits=False)] if _has_value(alone) else []
            attributes = {name: value for name, value in attributes.items() if name not in ids}
        return [*apart, *self._of_observations(own, above, attributes, observations, (path, at), names)]

    def _alone(
        self, own: dict[str, Any], above: dict[str, Any], attributes: dict[str, Any], at: str, *, inherits: bool = True
    ) -> Block:
        """Return a row that has only attributes: its other dimensions are ``~``, or left out in a deletion."""
        others = [dimension.id for dimension in self._components.dimensions if dimension.id not in own]
        off = {} if self._deletes else dict.fromkeys(others, SWITCHED_OFF)
        row = {**self._structure_columns, **own, **off}
        of_groups = self._inherited.shared(row) if inherits else {}
        return Block(1, _over(_over(row | above, of_groups), attributes), {}, paths=[at])

    def _of_observations(
        self, own: dict[str, Any], above: dict[str, Any], attributes: dict[str, Any],
        observations: Mapping[str, Values], within: tuple[str, str], dimensions: Sequence[ValueReader],
    ) -> Iterator[Block]:  # fmt: skip
        path, at = f"{within[0]}.observations", json_pointer(within[1], "observations")
        keys, values = list(observations), list(observations.values())
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            paths = Paths(path, some)
            varying = key_columns(dimensions, some, paths, self._where)
            shared = {**self._structure_columns, **own, **above}
            if self._inherited.vary_with(varying):
                of_groups = _filled(self._inherited.columns(len(some), own, varying), shared, {})
                varying |= {name: column for name, column in of_groups.items() if attributes.get(name) is None}
            else:
                shared = _over(shared, self._inherited.shared(own))
            shared = _over(shared, attributes)
            own_values, _ = self._values(values[start : start + _AT_ONCE], paths)
            varying |= _filled(own_values, shared, varying)
            shared = {name: value for name, value in shared.items() if name not in varying}
            yield Block(len(some), shared, varying, paths=Paths(at, some, json_pointer))

    def _values(self, rows: Sequence[Values], paths: Sequence[str]) -> tuple[dict[str, Sequence[Any]], set[str]]:
        """Return the measures and attributes of observations as columns, and the columns that are known to be texts."""
        columns = _columns(rows)
        components = [*self._components.measures, *self._components.observation]
        found: dict[str, Sequence[Any]] = {}
        texts = {each.id for each in components if each.are_texts}
        for index, component in enumerate(components):
            if index < len(columns):
                column = columns[index]
                kinds = set(map(type, column))
                if dict in kinds or list in kinds:
                    self._keys += keys_in(column)
                    texts.discard(component.id)
                found[component.id] = component.column(column, kinds, paths, index)
            else:
                found[component.id] = [component.default] * len(rows)
        for index, column in enumerate(columns[len(components) :], len(components)):
            for i, one in enumerate(column):
                if one is not OMITTED:
                    check_annotation(one, f"{paths[i]}[{index}]", self._where)
        return found, texts


def _part(group: Group, names: Collection[str]) -> Group:
    """Return a group with only these attributes."""
    return replace(group, attributes={name: value for name, value in group.attributes.items() if name in names})


def _has_any(*members: Any) -> bool:
    """Return whether one of these members has a value."""
    return any(value_if_given(one) not in (None, [], {}) for one in members)


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
    """Return columns with gaps filled by the values of a higher level, which are shared by all rows or vary by row."""
    found = dict(columns)
    for name, column in columns.items():
        if name in varying:
            found[name] = [one if one is not None else other for one, other in zip(column, varying[name], strict=True)]
        elif shared.get(name) is not None:
            higher = shared[name]
            found[name] = [one if one is not None else higher for one in column]
    return found
