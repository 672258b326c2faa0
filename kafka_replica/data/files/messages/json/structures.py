"""The structure of a data set: its number in the message, its components by level, and the artefact that it names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from kafka_replica.data.files.messages.json.component_values import ValueReader
from kafka_replica.data.files.messages.json.decoding import message_error
from kafka_replica.data.files.messages.json.message_objects import Component, DataSet, Levels, Structure, value_if_given

LETTERS: Final = {"information": "I", "append": "A", "replace": "R", "delete": "D", "merge": "M"}
_KINDS: Final = (
    (".ProvisionAgreement=", "dataprovision"), (".Dataflow=", "dataflow"), (".DataStructure=", "datastructure"),
)  # fmt: skip
"""The classes of data's structures in URNs; the dot excludes longer names, such as MetadataProvisionAgreement."""
_ADDRESS: Final = re.compile(
    r"/(?P<kind>dataflow|datastructure|provisionagreement)/(?P<agency>[\w.@$-]+)/(?P<id>[\w@$-]+)"
    r"/(?P<version>\d[\w.+-]*)(?:[/?#]|$)", re.ASCII
)  # fmt: skip
OLD: Final = "structure"
"""The location of the structure in 1.0, which has one; 2.x has a list of them."""
_TYPES: Final = {dict: "an object", str: "a text", bool: "a boolean"}
_FIRST: Final = ("provisionagreement", "dataflow", "datastructure")


class Components:
    """The components of a structure by level.

    Args:
        structure: the structure.
        path: the location of the structure.
        where: the file, for errors.
        is_deletion: whether the data set deletes. The defaults of attributes do not apply then, because an attribute
            that the message does not name must not be deleted, and keys must not name empty values.

    Raises:
        DatasetError: a component occurs twice, or a listed value is damaged.
    """

    def __init__(self, structure: Structure, path: str, where: str, *, is_deletion: bool) -> None:
        self._where, self.is_deletion = where, is_deletion
        no_levels = Levels()
        dimensions, attributes = structure.dimensions, structure.attributes or no_levels
        at, of = f"{path}.dimensions", f"{path}.attributes"
        fixed, name = _of_data_set(dimensions)
        self.of_data_set = self._readers(fixed, f"{at}.{name}")
        self.of_series = self._readers(dimensions.series, f"{at}.series")
        self.of_observation = self._readers(dimensions.observation, f"{at}.observation")
        written = [*fixed, *(dimensions.series or ()), *(dimensions.observation or ())]
        self.dimensions = [*self.of_data_set, *self.of_series, *self.of_observation]
        self.by_position = _by_position(written, self.dimensions)
        # 1.0 has no list of measures; in 2.x it may be left out, and is empty if there are no measures.
        measures = [Component("OBS_VALUE")] if structure.measures is None else structure.measures.observation
        self.measures = self._readers(measures, f"{path}.measures.observation")
        above, name = _of_data_set(attributes)
        self.data_set, self.group, self.series, self.observation = (
            self._readers(level, f"{of}.{name}", with_defaults=not is_deletion, are_attributes=True)
            for name, level in (
                (name, above), ("dimensionGroup", attributes.group),
                ("series", attributes.series), ("observation", attributes.observation),
            )
        )  # fmt: skip
        self._check_once(self.dimensions)
        for dimension in self.dimensions:
            if any(isinstance(value, list | dict) for value in dimension.listed):
                raise message_error(where, f"{dimension.path}: a value of the dimension {dimension.id} is not one text")
            if is_deletion:
                dimension.refuse_empty()
        for level in (self.data_set, self.group, self.series, [*self.measures, *self.observation]):
            self._check_once([*self.dimensions, *level])

    def _readers(
        self,
        components: Sequence[Component] | None,
        path: str,
        *,
        with_defaults: bool = False,
        are_attributes: bool = False,
    ) -> list[ValueReader]:
        return [
            ValueReader(
                component, f"{path}[{index}]", self._where, with_default=with_defaults, lists_all=are_attributes
            )
            for index, component in enumerate(components or ())
        ]

    def _check_once(self, components: Sequence[ValueReader]) -> None:
        seen: dict[str, ValueReader] = {}
        for component in components:
            if seen.setdefault(component.id, component) is not component:
                raise message_error(self._where, f"{component.path}: {component.id} is also {seen[component.id].path}")


def _of_data_set(levels: Levels) -> tuple[Sequence[Component], str]:
    """Return the components at the level of the data set, and the name under which the message has them."""
    if levels.data_set_in_lower_case and not levels.data_set:
        return levels.data_set_in_lower_case, "dataset"
    return levels.data_set or (), "dataSet"


def _by_position(written: Sequence[Component], dimensions: Sequence[ValueReader]) -> list[ValueReader]:
    """Return dimensions by their position in keys; those without one, often only the time dimension, come last."""
    last = len(dimensions)
    order = sorted(
        range(len(dimensions)), key=lambda i: last if written[i].position is None else written[i].position or 0
    )  # fmt: skip
    return [dimensions[i] for i in order]


def number_of_structure(index: int, dataset: DataSet, structures: Sequence[Any], where: str) -> int:
    """Return the index of the structure of a data set.

    The data set may give the index, or a structure may list the data set. If no structure lists data sets, it is the
    first one, which field guide 2.1 assumes; otherwise the only structure that lists none, or the only structure.

    Raises:
        DatasetError: there is no such structure, or several are possible, or a structure lists no numbers.
    """
    named = value_if_given(dataset.structure)
    if named is not None:
        if not 0 <= named < len(structures):
            raise message_error(
                where, f"dataSets[{index}].structure: {named} is not an index of the {len(structures)} structures"
            )
        return named
    lists = [_data_sets_of(structure, f"structures[{number}]", where) for number, structure in enumerate(structures)]
    if not any(lists):
        return 0
    found = [number for number, indexes in enumerate(lists) if index in indexes]
    found = found or [number for number, indexes in enumerate(lists) if not indexes]
    found = found or list(range(len(structures)))
    if len(found) > 1:
        raise message_error(where, f"dataSets[{index}]: it does not name one of the {len(structures)} structures")
    return found[0]


def _data_sets_of(structure: object, path: str, where: str) -> Sequence[object]:
    """Return the numbers of the data sets that a structure lists."""
    listed = (structure.get("dataSets") if isinstance(structure, Mapping) else None) or ()
    if not isinstance(listed, list | tuple):
        raise message_error(
            where, f"{path}.dataSets: expected a list of numbers, and it is {_TYPES.get(type(listed), 'a number')}"
        )
    return listed


def structure_columns_of(structure: Structure, dataset: DataSet) -> dict[str, str]:
    """Return the first columns of SDMX-CSV for a data set: the artefact that its links name, and the action."""
    action = value_if_given(dataset.action) or "information"
    letter = LETTERS.get(action.strip().lower(), action)
    for links in (structure.links, value_if_given(dataset.links)):
        for kind, reference in _references(links or ()):
            return {"STRUCTURE": kind, "STRUCTURE_ID": reference, "ACTION": letter}
    return {"ACTION": letter}


def _references(links: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield the artefacts that links name by URNs, then those named by the URLs of registries; most specific first."""
    texts = [str(text) for link in links for text in (link.get("urn"), link.get("href")) if text]
    for mark, kind in _KINDS:
        for text in texts:
            if mark in text:
                yield kind, text.rpartition("=")[2]
    addresses = [found for text in texts if (found := _ADDRESS.search(text))]
    for found in sorted(addresses, key=lambda address: _FIRST.index(address["kind"])):
        kind = "dataprovision" if found["kind"] == "provisionagreement" else found["kind"]
        yield kind, f"{found['agency']}:{found['id']}({found['version']})"
