"""Writing any artefact gives a message or a reason, never another error and never a loss."""

from __future__ import annotations

import random
import types
import typing
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from kafka_replica.sdmx import containers, model, read_message, write_message
from kafka_replica.sdmx.containers import InternationalString, Items
from kafka_replica.sdmx.formats.shared.writing.conversion import as_representable_in
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.model import ARTEFACTS, base, representation
from kafka_replica.sdmx.model.base import Maintainable
from kafka_replica.sdmx.urns.urn import Urn
from kafka_replica.sdmx.writing.messages import explain_unwritable, media_types

TEXTS = ["A", "B_1", "a b", "", "é", "1", "x.y", "urn:sdmx:x", "<&>", "\n", "\x01", "%", "2020-01-01T00:00:00", "true"]
CLASSES = ["Codelist", "Code", "Concept", "DataStructure", "Dataflow", "Dimension", "ValueList", "Category", "Level"]
NAMES = vars(typing) | vars(base) | vars(containers) | vars(model) | vars(representation) | {"Decimal": Decimal}


class Anything:
    """A generator of values of any type of the model, correct by type only."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def struct(self, kind: type[Any], depth: int = 0, urn: Urn | None = None) -> Any:
        """Return a struct with some of its fields."""
        hints = typing.get_type_hints(kind, NAMES)
        found: dict[str, Any] = {}
        for field in msgspec.structs.fields(kind):
            is_needed = field.default is msgspec.NODEFAULT and field.default_factory is msgspec.NODEFAULT
            if field.name == "urn" and urn is not None:
                found["urn"] = urn
            elif is_needed or self._random.random() < 0.6:
                found[field.name] = self.value(hints[field.name], depth, urn)
        return kind(**found)

    def value(self, hint: Any, depth: int, urn: Urn | None) -> Any:  # noqa: PLR0911 - a table
        """Return a value of a type."""
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if origin in {typing.Union, types.UnionType}:
            return self.value(self._random.choice(arguments), depth, urn)
        if origin is typing.Literal:
            return self._random.choice(arguments)
        if origin is Items:
            return self._items(arguments[0], depth, urn)
        if origin is tuple:
            if arguments[-1] is not Ellipsis:
                return tuple(self.value(argument, depth, urn) for argument in arguments)
            many = self._random.randint(0, 2) if depth < 4 else 0
            return tuple(self.value(arguments[0], depth + 1, urn) for _ in range(many))
        if isinstance(hint, type) and issubclass(hint, msgspec.Struct) and hint is not Urn:
            return self.struct(hint, depth + 1)
        return self._scalar(hint)

    def _items(self, kind: Any, depth: int, urn: Urn | None) -> Items[Any]:
        kind = Maintainable if kind is Any else kind
        ids = self._random.sample(["A", "B", "C"], self._random.randint(0, 2)) if depth < 4 else []
        above = urn or self._urn()
        path = f"{above.item}." if above.item else ""
        return Items(
            {
                id_: self.struct(kind, depth + 1, above.with_item(self._class_of(kind), path + id_))
                if "urn" in kind.__struct_fields__
                else self.struct(kind, depth + 1)
                for id_ in ids
            }
        )

    def _class_of(self, kind: Any) -> str:
        return {"Attribute": "DataAttribute", "Group": "GroupDimensionDescriptor"}.get(kind.__name__, kind.__name__)

    def _scalar(self, hint: Any) -> Any:  # noqa: PLR0911 - a table
        if hint is type(None):
            return None
        if hint is str:
            return self._random.choice(TEXTS)
        if hint is bool:
            return self._random.random() < 0.5
        if hint is int:
            return self._random.randint(-1, 5)
        if hint is Decimal:
            return Decimal(self._random.choice(["1", "1.50", "-1E+3", "1E-9"]))
        if hint is InternationalString:
            return InternationalString([(self._random.choice(["en", "fr"]), self._random.choice(TEXTS))])
        if hint is Urn:
            return self._urn()
        raise TypeError(hint)

    def _urn(self) -> Urn:
        class_ = self._random.choice(CLASSES)
        item = self._random.choice(["A", "A.B"])
        version = self._random.choice(["1.0", "1.0.0-draft", "1.0+"])
        try:
            return Urn.of(class_, "AG", "ID", version, None)
        except ValueError:
            return Urn.of(class_, "AG", "ID", version, item)


@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(ARTEFACTS))
def test_a_message_or_a_reason(name: str) -> None:
    """Fifteen random artefacts of a class give a message or a reason in every format."""
    for seed in range(15):
        urn = Urn.of(name, "AG", "ID", "1.0")
        artefact = Anything(seed).struct(ARTEFACTS[name], 0, urn)
        for media_type in map(Format, media_types()):
            why = explain_unwritable(artefact, media_type)
            assert why is None or str(urn) in why
            if why is None:
                assert list(read_message(write_message(artefact, media_type))) == [
                    as_representable_in(artefact, media_type)
                ]
