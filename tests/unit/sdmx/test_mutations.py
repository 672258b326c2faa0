"""Messages of every class with parts removed or changed are read, or refused with one of our errors."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import random
from typing import Any

import pytest
from lxml import etree
from test_classes import DATA, EVERY, OLD

from kafka_replica.sdmx import read_message, split_message
from kafka_replica.sdmx.errors import SdmxError
from support.effort import examples

ROUNDS = int(os.environ.get("SDMX_MUTATIONS", examples(150, long=600)))
JUNK = [
    "",
    " ",
    "a b",
    "-1",
    "9" * 30,
    "1e999",
    "NaN",
    "true",
    "urn:sdmx:x",
    "é\u2028",
    "A" * 5000,
    "Ref",
    "2020-13-45",
]
VALUES: list[Any] = [None, True, -1, 10**30, 1.5, "", "a b", "urn:", [], {}, [None], [[]], {"id": None}, "x" * 5000]
TWINS = json.loads((DATA / "every_class.fusion.json").read_bytes())


def settle(data: bytes) -> None:
    """Read, access all content, and split: only our errors may come out."""
    with contextlib.suppress(SdmxError):
        for artefact in read_message(data):
            assert artefact == artefact  # noqa: PLR0124 - makes the lazy parts
            hash(artefact)
            repr(artefact)
        split_message(data)


def mutated(root: Any, chance: random.Random) -> bytes:
    """Return the tree with one to three elements or attributes removed, changed, moved or doubled."""
    root = copy.deepcopy(root)
    for _ in range(chance.randint(1, 3)):
        elements = [one for one in root.iter("{*}*") if one.getparent() is not None]
        one, other = chance.choice(elements), chance.choice(elements)
        act = chance.randrange(6)
        if act == 0:
            one.getparent().remove(one)
        elif act == 1 and one.attrib:
            del one.attrib[chance.choice(list(one.attrib))]
        elif act == 2 and one.attrib:
            one.set(chance.choice(list(one.attrib)), chance.choice(JUNK))
        elif act == 3:
            one.text = chance.choice(JUNK)
        elif act == 4:
            one.addnext(copy.deepcopy(one))
        elif other not in one.iter("{*}*") and one not in other.iter("{*}*"):
            other.append(copy.deepcopy(one))
    data: bytes = etree.tostring(root)
    return data


@pytest.mark.scaled
@pytest.mark.parametrize("sample", [EVERY, OLD], ids=["3.0", "2.1"])
def test_xml(sample: bytes) -> None:
    """Any part of a message of SDMX-ML may be missing, doubled, or nonsense."""
    chance = random.Random(1)
    root = etree.fromstring(sample)
    for _ in range(ROUNDS):
        settle(mutated(root, chance))


def spoil(value: Any, chance: random.Random) -> Any:
    """Return the value with something in it removed or changed."""
    if chance.random() < 0.15 or not value or not isinstance(value, (dict, list)):
        return chance.choice(VALUES)
    value = copy.copy(value)
    key = chance.choice(list(value) if isinstance(value, dict) else range(len(value)))
    if chance.random() < 0.1:
        del value[key]
    else:
        value[key] = spoil(value[key], chance)
    return value


@pytest.mark.scaled
def test_fusion() -> None:
    """Any part of a message of Fusion-JSON may be missing or nonsense."""
    chance = random.Random(1)
    classes = [cls for cls in TWINS if cls != "meta"]
    for _ in range(ROUNDS * 10):
        cls = chance.choice(classes)
        settle(json.dumps({cls: [spoil(TWINS[cls][0], chance)]}).encode())
