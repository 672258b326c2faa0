"""Values of components, which are listed in a structure, or given directly by observations, series and groups."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from types import NoneType
from typing import Any, Final, TypeGuard

from kafka_replica.data.files.messages.blocks import TEXTS
from kafka_replica.data.files.messages.json.decoding import message_error
from kafka_replica.data.files.messages.json.message_objects import Component
from kafka_replica.data.validation.actions import SWITCHED_OFF


class OmittedValue:
    """The type of a value that is missing because an array is too short; the default applies instead."""


OMITTED: Final = OmittedValue()
_OF_OBSERVATIONS: Final = ("observation", "primaryMeasure", "group")
_OF_DATA_SETS: Final = ("dataflow", "none")
_INDEXES: Final = frozenset({int, NoneType, OmittedValue})
_GIVEN_TEXTS: Final = frozenset({str, NoneType})


def plain_value(value: Any) -> Any:
    """Return a text, a list of texts, texts by language, or None; an empty text is None, as in other formats.

    Raises:
        ValueError: the value is an object other than texts by language.
    """
    if isinstance(value, str):
        return value or None
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        # A list in a list is a metadata attribute within a metadata attribute, which SDMX-CSV does not split either.
        return [json.dumps(one, ensure_ascii=False) if isinstance(one, list) else plain_value(one) for one in value]
    if isinstance(value, dict):
        texts = {language: text for language, text in value.items() if text is not None}
        if not all(isinstance(text, str) for text in texts.values()):
            raise ValueError(f"{_shown(value)} is not a text by language")
        return texts or None
    return str(value)


def listed_value(value: Any) -> Any:
    """Return a value listed in a structure: its code, its value or values, or its name.

    Uncoded attributes in 1.0 have only a name.

    Raises:
        ValueError: the value is an object other than texts by language.
    """
    if not isinstance(value, dict):
        return plain_value(value)
    for name in ("id", "value", "values"):
        if value.get(name) is not None:
            return plain_value(value[name])
    names = value.get("names")
    return plain_value(names if isinstance(names, dict) and len(names) > 1 else value.get("name") or names)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


class ValueReader:
    """A reader of a component's values.

    Args:
        component: the component.
        path: the location of the component in the message.
        where: the file, for errors.
        with_default: whether the default applies where no value is given.
        lists_all: whether a list of values, even an empty one, must list all values that data refers to. If so, an
            integer is always an index. Services write empty lists of values for measures and give numbers directly.

    Attributes:
        is_left_out: whether arrays leave out the attribute, because it has no values: see ``left_out_attributes.py``.
        may_be_several: whether the message says that the component may have several values.
        takes_texts: whether a value that is not listed, such as a text, is one that a service gives directly.

    Raises:
        DatasetError: a listed value is damaged.
    """

    def __init__(
        self, component: Component, path: str, where: str, *, with_default: bool = True, lists_all: bool = False
    ) -> None:
        self.id = component.id
        self.relationship = component.relationship
        self.may_be_several = _is_above_one(component.max_occurs)
        self.path = path
        self._where = where
        self.is_empty = lists_all and component.values is not None and not component.values
        """True if the attribute has an empty list of values, so that no index of it is right."""
        self.is_left_out = False
        self.takes_texts = True
        try:
            self.listed = [listed_value(value) for value in component.values or ()]
            self.default = listed_value(component.default) if with_default else None
        except ValueError as error:
            raise message_error(where, f"{path}: {error}") from error
        self.are_texts = TEXTS.issuperset(map(type, [*self.listed, self.default]))
        """True if all listed values, and the default, are texts or None."""
        self._by_index: Mapping[Any, Any] = {
            None: None, OMITTED: self.default, **dict(enumerate(self.listed))
        }  # fmt: skip
        self.by_key: Mapping[str, Any] = {
            "": None, SWITCHED_OFF: SWITCHED_OFF, **{str(i): value for i, value in enumerate(self.listed)}
        }  # fmt: skip
        """The values of a dimension by the text of their index in keys; the text is empty if a deletion omits it."""

    def refuse_empty(self) -> None:
        """Reject indexes of empty listed values in keys, where an empty value would match any value."""
        self.by_key = {key: value for key, value in self.by_key.items() if value is not None or not key}

    def combine(self) -> None:
        """Make all listed values the only listed value, to which the index 0 refers."""
        self.listed = [self._several(range(len(self.listed)))]

    def is_attached_to(self, dimensions: Collection[str]) -> bool:
        """Return whether the relationship attaches an attribute to these dimensions only, or to some of them.

        A message may present an attribute at a level other than the one it is attached to.

        Source: SDMX-JSON data message, field guides 1.0 to 2.1, "attribute relationship".
        """
        named = self.relationship
        if not isinstance(named, dict) or any(named.get(one) is not None for one in _OF_OBSERVATIONS):
            return False
        of = named.get("dimensions")
        if isinstance(of, list) and of:
            return all(one in dimensions for one in of)
        return of is None and any(named.get(one) is not None for one in _OF_DATA_SETS)

    def column(self, given: Sequence[Any], kinds: set[type], paths: Sequence[str], index: int) -> Sequence[Any]:
        """Return the values of a sequence of observations.

        Args:
            given: the values or indexes.
            kinds: their types.
            paths: the locations of the observations, for errors.
            index: the position of the component in each observation.

        Raises:
            DatasetError: an index or value is wrong; the message names its location.
        """
        if self.listed:
            if kinds <= _INDEXES:
                try:
                    if given[0] == given[-1] and given.count(given[0]) == len(given):
                        return [self._by_index[given[0]]] * len(given)
                    return [*map(self._by_index.__getitem__, given)]
                except KeyError:
                    pass  # reported below, with the location
        elif kinds <= _GIVEN_TEXTS and not self.is_left_out:
            return given if all(given) else [one or None for one in given]
        found = []
        for i, one in enumerate(given):
            try:
                found.append(self._value(one))
            except ValueError as error:
                raise message_error(self._where, f"{paths[i]}[{index}]: {error}") from error
        return found

    def value(self, given: Any, path: str) -> Any:
        """Return a value that is given directly, or by the index or indexes of listed values.

        Raises:
            DatasetError: an index or value is wrong; the message names its location.
        """
        try:
            return self._value(given)
        except ValueError as error:
            raise message_error(self._where, f"{path}: {error}") from error

    def _value(self, given: Any) -> Any:
        if given is OMITTED:
            return self.default
        if self.is_left_out:
            raise ValueError(f"there is no attribute at this position, because other arrays leave out {self.id}")
        if self.is_empty:
            self._refuse_indexes(given)
        if not self.listed:
            return plain_value(given)
        return self._several(given) if isinstance(given, list) else self._one(given)

    def _refuse_indexes(self, given: Any) -> None:
        for one in given if isinstance(given, list) else [given]:
            if is_index(one):
                raise ValueError(
                    f"{one} is not an index of {self.id}, which has no values; if the service has left {self.id} out "
                    f"of all arrays of attributes, remove {self.path}"
                )

    def _several(self, given: Sequence[Any]) -> list[Any]:
        found: list[Any] = []
        for one in map(self._one, given):
            found.extend(one if isinstance(one, list) else [one])
        return found

    def _one(self, given: Any) -> Any:
        """Return the value of an index, or a text that a service gives directly although values are listed."""
        if is_index(given):
            if 0 <= given < len(self.listed):
                return self.listed[given]
            raise ValueError(f"{given} is not an index of {self.id}, which has {values_counted(len(self.listed))}")
        if isinstance(given, str):
            is_wrong = given not in self.listed and (_is_number(given) or not self.takes_texts)
        else:
            is_wrong = given is not None and not self.takes_texts
        if is_wrong:
            shown = given if isinstance(given, str) else _shown(given)
            raise ValueError(f"{shown} is not an index of {self.id}, and not one of its listed values")
        return plain_value(given)


def _is_above_one(occurrences: object) -> bool:
    """Return whether ``maxOccurs`` of a component allows several values: a number, also as a text, or "unbounded"."""
    if isinstance(occurrences, str):
        return occurrences == "unbounded" or (occurrences.isdecimal() and occurrences.lstrip("0") not in {"", "1"})
    return is_index(occurrences) and occurrences > 1


def is_index(value: Any) -> TypeGuard[int]:
    """Return whether a value in an array can be the index of a listed value. Numbers with decimals are texts here."""
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(text: str) -> bool:
    return text[:1] in "-0123456789" and text.replace(".", "").lstrip("-").isdigit()


def values_counted(count: int) -> str:
    """Return a number of values and their indexes as text, for errors."""
    if not count:
        return "no values"
    return "1 value, with index 0" if count == 1 else f"{count} values, with indexes 0 to {count - 1}"
