"""Find members of structures, data sets and series that SDMX-JSON does not define, and that are therefore not read.

Source: SDMX-JSON data message, field guide 2.1, "Extending SDMX-JSON".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Raw, Struct

from kafka_replica.data.files.messages.deletion_notes import DeletionNotes
from kafka_replica.data.files.messages.json.decoding import message_error
from kafka_replica.data.files.messages.json.keys import member_path
from kafka_replica.data.files.messages.json.message_objects import (
    Body,
    Component,
    DataSet,
    Levels,
    Message,
    Series,
    Structure,
)

_Members: TypeAlias = dict[str, Raw]
_DESCRIPTIONS: Final = frozenset({"name", "names", "description", "descriptions", "annotations"})
"""Members of structures that are not read, and hold no data."""
_NO_LEVELS: Final = {
    "dimensions": ("dimensionGroup",),
    "measures": ("dataSet", "dataset", "dimensionGroup", "series"),
}
"""The levels at which a structure has no dimensions, and no measures."""
_UNNEEDED: Final = frozenset({"maxOccurs"})
"""Members that are read, but hold no data, so that others may be called almost like them."""
_MOST: Final = 10
"""The number of names that are noted of structures, and of data sets and series."""
_LONGEST: Final = 40


class UnreadMembers:
    """The names of unknown members of structures, data sets and series.

    Args:
        where: the file, for errors.

    Attributes:
        data_sets: the numbers of the data sets that have unknown members.
    """

    def __init__(self, where: str) -> None:
        self._where = where
        self.data_sets: set[int] = set()
        self._found: dict[tuple[bool, str], str] = {}
        """The notes on unknown members, by whether they are of a structure, and their name."""
        self._deletions = DeletionNotes()
        self._attributes: dict[str, str] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for each name, up to a limit, each note on attributes, and each deletion that deletes nothing."""
        return (*self._found.values(), *self._attributes.values(), *self._deletions.texts)

    def search_outline(self, data: bytes) -> None:
        """Search the data of a message, and its data sets.

        Args:
            data: the outline of a message that has been decoded.

        Raises:
            DatasetError: an unknown member is called almost like a known one, and so probably holds data.
        """
        message: _Members = msgspec.json.decode(data, type=_Members)
        body = _decoded(message.get("data"), _Members) or message
        self._search("", body, Message if body is message else Body)
        for index, dataset in enumerate(_decoded(body.get("dataSets"), list[_Members])):
            self._search(f"dataSets[{index}]", dataset, DataSet)
            if not dataset.keys() <= {*DataSet.__struct_encode_fields__}:
                self.data_sets.add(index)

    def search_structure(self, structure: Mapping[str, Any], path: str) -> None:
        """Search a structure that has been decoded, its levels and their components.

        Members without content lose nothing. Unknown members of components are not noted, because many describe them.

        Args:
            structure: the structure.
            path: its location.

        Raises:
            DatasetError: see :meth:`search_outline`; or components are at a level that cannot have them, or at two
                levels of the same meaning.
        """
        self._search(path, [name for name in _filled(structure) if name not in _DESCRIPTIONS], Structure)
        for name in ("dimensions", "measures", "attributes"):
            at, levels = f"{path}.{name}", _filled(structure.get(name) or {})
            self._search(at, levels, Levels)
            wrong = next((level for level in levels if level in _NO_LEVELS.get(name, ())), None)
            if wrong is not None:
                raise message_error(self._where, f"{at}.{wrong}: SDMX-JSON has no {name} at this level")
            if "dataSet" in levels and "dataset" in levels:
                raise message_error(self._where, f"{at}: it has both 'dataSet' and 'dataset'")
            known = [level for level in levels if level in Levels.__struct_encode_fields__]
            for level in known:
                for index, component in enumerate(levels[level]):
                    self._search(f"{at}.{level}[{index}]", _filled(component), Component, has_notes=False)

    def note_attributes(self, path: str, text: str) -> None:
        """Store how attributes were read; each text is noted for the first data set only."""
        self._attributes.setdefault(text, f"{path} {text}")

    def note_empty_deletion(self, path: str) -> None:
        """Note that a data set with the action delete has members, but none that names what is deleted."""
        self._deletions.add(
            "data set",
            f"{path} has the action delete, but nothing that was read names what is deleted; it deletes nothing "
            '(to delete all data, give a series or observation whose key has only empty parts, such as "::")',
        )

    def note_deletion(self, path: str, what: str, result: str = "it deletes nothing", count: int = 1) -> None:
        """Store the first part of each kind that deletes nothing, in data sets with the action delete.

        ``count`` is the number of such parts at the path.
        """
        self._deletions.add(what, f"{path}, of a data set with the action delete, {what}; {result}", count)

    def search_series(self, data: bytes, path: str) -> None:
        """Search series.

        Args:
            data: an object of series that have been decoded.
            path: its location.

        Raises:
            DatasetError: see :meth:`search_outline`.
        """
        for key, series in _decoded(data, dict[str, _Members]).items():
            self._search(member_path(path, key), series, Series)

    def _search(self, path: str, members: Iterable[str], struct: type[Struct], *, has_notes: bool = True) -> None:
        known = struct.__struct_encode_fields__
        for name in members:
            if name in known:
                continue
            shown = repr(name[:_LONGEST])
            alike = (one for one in known if _simplified(one) == _simplified(name))
            meant = next((one for one in alike if one not in _UNNEEDED), None)
            if meant is not None:
                raise message_error(
                    self._where, f"{path or 'data'}: {shown} is not a member in SDMX-JSON; did you mean {meant!r}?"
                )
            key = (struct in {Structure, Levels}, name)
            if path and has_notes and key not in self._found and self._has_room(of_structures=key[0]):
                self._found[key] = f"{path} has the member {shown}, which SDMX-JSON does not define; it is not read"

    def _has_room(self, *, of_structures: bool) -> bool:
        return sum(one == of_structures for one, _ in self._found) < _MOST


def _filled(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members that have content."""
    return {name: value for name, value in members.items() if value not in (None, [], {}, "")}


def _decoded(value: bytes | Raw | None, kind: Any) -> Any:
    """Return a value of this kind; an empty one if there is none."""
    return (None if value is None else msgspec.json.decode(value, type=kind | None)) or kind()


def _simplified(name: str) -> str:
    """Return a name in a form in which usual misspellings are equal."""
    return name.lower().replace("_", "").replace("-", "").removesuffix("s")
