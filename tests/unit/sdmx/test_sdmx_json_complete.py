"""All values that a struct of SDMX-JSON decodes reach the model.

For each class an artefact is made up that has every field of every struct, each with a value of its own; then each
value is searched for in the model.
"""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from kafka_replica.sdmx.formats.sdmx_json.classes import CLASSES
from kafka_replica.sdmx.formats.sdmx_json.constraints.reading import read_availability_constraint
from kafka_replica.sdmx.formats.sdmx_json.constraints.wire import WireAvailability
from kafka_replica.sdmx.formats.sdmx_json.values.reading import Context
from kafka_replica.sdmx.formats.sdmx_json.values.wire import WireRepresentation
from kafka_replica.sdmx.urns.urn import Urn

pytestmark = pytest.mark.thorough

_OTHER_NAMES = {"format", "text_format"}


class Maker:
    """A generator of structs; ``made`` has each value and its field."""

    def __init__(self) -> None:
        self.made: dict[str, str] = {}
        self._above: list[type] = []

    def value(self, hint: Any, where: str, name: str) -> Any:
        """Return a value of this type."""
        kinds = typing.get_args(hint) if isinstance(hint, types.UnionType) else ()
        if kinds:
            structs = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, msgspec.Struct)]
            return self.value(structs[0] if structs else kinds[0], where, name)
        if typing.get_origin(hint) is list:
            made = self.value(typing.get_args(hint)[0], where, name)
            return None if made is None else [made]
        if typing.get_origin(hint) is dict:
            return {} if typing.get_args(hint)[1] is Any else {self.text(where, "key"): self.text(where, name)}
        if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
            return self.struct(hint)
        return self.single(hint, where, name)

    def single(self, hint: Any, where: str, name: str) -> Any:
        """Return a text, a number, or true."""
        if hint is bool:
            return True
        if hint is str or hint is Any:
            return self.text(where, name)
        text = str(7000 + len(self.made))
        self.made[text] = where
        made: dict[Any, Callable[[str], Any]] = {
            int: int, Decimal: Decimal, msgspec.Raw: lambda one: msgspec.Raw(one.encode()),
        }  # fmt: skip
        return made[hint](text)

    def text(self, where: str, name: str) -> str:
        """Return a text that is an id where that is required, or a reference, a path of items, or any text."""
        mark = f"T{len(self.made)}T"
        self.made[mark] = where
        return mark if name in {"id", "key"} else f"urn:sdmx:org.sdmx.infomodel.codelist.Code=A:{mark}(1.0).{mark}"

    def struct(self, kind: type[Any]) -> Any:
        """Return a struct with all its fields; a struct within itself is left out the second time."""
        if self._above.count(kind) > 1:
            return None
        self._above.append(kind)
        hints = typing.get_type_hints(kind)
        above = "/".join(one.__name__.removeprefix("Wire") for one in self._above)
        # A representation has one format, under one of its names.
        names = set(kind.__struct_fields__) - (_OTHER_NAMES if kind is WireRepresentation else set())
        fields = {name: self.value(hints[name], f"{above}.{name}", name) for name in sorted(names)}
        self._above.pop()
        return kind(**fields)


# Fields that give way: to the same thing under the name of another edition, or of another class that has the same
# struct; or because the model has no place for them.
GIVE_WAY = re.compile(
    r"""
    ^\w+\.(id|key|agency_id|agency_upper|version|urn)$   # read with agency and version, for the URN
    | /Link\.title$                                      # one of the titles
    | Annotation/Link\.(urn|uri|type|rel|title|titles)$  # an annotation has addresses, and their languages
    | (Map|Mapping|Pair|MapInSet|InputOutput|Computation|Usage|ValueList/Nameable)/Link\.  # no URN, no links
    | ValueMap/Pair/Annotation                           # in no schema
    | Format\.text_type$                                 # dataType
    | Component\.(type|usage|assignment_status|is_mandatory)$  # a class, and a flag
    | /ReportedFormat\.data_type$                        # texts, or structured texts
    | (Measure|Attribute)List/Component\.position$       # of dimensions alone
    | (Dimension|Measure)List/Component(\.measure_relationship|/Relationship)  # of attributes alone
    | AttributeList/Component/Relationship\.(none|dataflow|observation)
    | ^Constraint\.type$                                 # role
    | HierarchicalCode\.code_upper$                      # codeId
    | ^HierarchicalCodelist/Hierarchy\.(valid_|agency_|version|urn)  # of hierarchies that stand alone
    | ^ProvisionAgreement\.structure_usage$              # dataflow
    | /End\.(valuelist|data_type)$                       # codelist
    | /FixedValueMap\.value$                             # values
    | /VtlItem\.(concept|dataflow)$                      # codelist
    """,
    re.VERBOSE,
).search


def texts_of(value: Any) -> str:
    """Return all content of a model as text."""
    if isinstance(value, msgspec.Struct):
        parts = [texts_of(getattr(value, name)) for name in value.__struct_fields__]
        return "\n".join([str(value), *parts] if isinstance(value, Urn) else parts)
    if isinstance(value, tuple):
        return "\n".join(texts_of(one) for one in value)
    if hasattr(value, "items"):
        return "\n".join(f"{key}\n{texts_of(each)}" for key, each in value.items())
    return str(value)


@pytest.mark.long
def test_every_value_of_every_field_is_in_the_model() -> None:
    """Every value of every field is in the model of some class, except for fields that give way to another."""
    kept: set[str] = set()
    made: set[str] = set()
    for class_, (kind, convert, _) in CLASSES.items():
        maker = Maker()
        artefact = convert(Urn.of(class_, "A", "X", "1.0"), maker.struct(kind), Context())
        text = texts_of(artefact)
        made |= set(maker.made.values())
        kept |= {where for mark, where in maker.made.items() if mark in text}
    assert sorted(one for one in made - kept if not GIVE_WAY(one)) == []
    assert len(kept) > 700


def test_every_value_of_an_availability_constraint_is_in_the_model() -> None:
    """Every value of an availability constraint, which has no URN, is in the model."""
    maker = Maker()
    text = texts_of(read_availability_constraint(maker.struct(WireAvailability), Context()))
    lost = {where for mark, where in maker.made.items() if mark not in text}
    assert sorted(one for one in lost if not GIVE_WAY(one) and "Availability/Link" not in one) == []
