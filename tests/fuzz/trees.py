"""XML and JSON: samples with parts removed, changed, doubled or moved, and messages generated from their vocabulary."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from lxml import etree

JUNK: Final = (
    "", " ", "a b", "-1", "9" * 30, "9" * 5000, "1e999", "NaN", "true", "urn:sdmx:x", "é\u2028", "A" * 3000, "Ref",
    "2020-13-45", "unbounded", "*", "1.0+", "\U0001f600",
)  # fmt: skip
VALUES: Final[tuple[Any, ...]] = (
    None, True, False, -1, 0, 10**30, 1.5, 1e308, "", "a b", "urn:", [], {}, [None], [[]], {"id": None}, *JUNK
)  # fmt: skip
_BLANKS: Final = (None, 1, "\t")


def xml(samples: Sequence[bytes], seed: int) -> bytes:
    """Return a document made from the samples."""
    chance = random.Random(seed)
    root = copy.deepcopy(_parsed(chance.choice(list(samples))))
    pool = _pool(tuple(samples))
    for _ in range(chance.choice((1, 1, 2, 3, 8))):
        _change(root, pool, chance)
    written: Any = etree.tostring(root, encoding=chance.choice(("UTF-8", "UTF-8", "UTF-16", "ISO-8859-1")))
    return bytes(written)


@cache
def _parsed(sample: bytes) -> etree._Element:
    return etree.fromstring(sample)


@cache
def _pool(samples: tuple[bytes, ...]) -> list[etree._Element]:
    return [element for sample in samples for element in _parsed(sample).iter("{*}*")]


def _change(  # noqa: C901 - one choice
    root: etree._Element, pool: list[etree._Element], chance: random.Random
) -> None:
    elements = [element for element in root.iter("{*}*", "*") if element.getparent() is not None]
    if not elements:
        return
    one = chance.choice(elements)
    parent = one.getparent()
    act = chance.randrange(9)
    if parent is None:
        return
    if act == 0:
        parent.remove(one)
    elif act == 1 and one.attrib:
        del one.attrib[chance.choice(list(one.attrib))]
    elif act == 2 and one.attrib:
        one.set(chance.choice(list(one.attrib)), chance.choice(JUNK))
    elif act == 3:
        one.text = chance.choice(JUNK)
    elif act == 4:
        one.addnext(copy.deepcopy(one))
    elif act == 5:
        # A part of any sample, at a place where it was never meant to be.
        one.append(copy.deepcopy(chance.choice(pool)))
    elif act == 6:
        one.set(chance.choice(list(chance.choice(pool).attrib) or ["id"]), chance.choice(JUNK))
    elif act == 7:
        one.insert(0, chance.choice((etree.Comment("x"), etree.ProcessingInstruction("x", "y"))))
    else:
        _nest(one, chance)


def _nest(one: etree._Element, chance: random.Random) -> None:
    inner = one
    for _ in range(chance.choice((3, 30, 240))):
        made = etree.SubElement(inner, one.tag)
        for name, value in one.attrib.items():
            made.set(name, value)
        inner = made


def json_text(samples: Sequence[bytes], seed: int) -> bytes:
    """Return a message made from the samples: one or a few of their artefacts, with something else in them."""
    chance = random.Random(seed)
    whole: dict[str, Any] = json.loads(chance.choice(list(samples)))
    holder = whole.get("data", whole)
    names = [name for name in holder if name != "meta"]
    kept = chance.sample(names, k=min(len(names), chance.choice((1, 1, 2, 5))))
    made = {name: holder[name] for name in kept}
    words = _words(tuple(samples))
    for _ in range(chance.choice((1, 1, 2, 3, 8))):
        made = _spoilt(made, words, chance)
    whole = (whole | {"data": made}) if "data" in whole else {"meta": whole.get("meta"), **_as_members(made)}
    if chance.random() < 0.1:
        whole = _spoilt(whole, words, chance)
    written = json.dumps(whole, indent=chance.choice(_BLANKS), ensure_ascii=chance.random() < 0.3)
    return _doubled(written, chance).encode("utf-8", "surrogatepass")


def _as_members(made: Any) -> dict[str, Any]:
    return made if isinstance(made, dict) else {"Codelist": made}


@cache
def _words(samples: tuple[bytes, ...]) -> tuple[str, ...]:
    found: dict[str, None] = {}

    def gather(value: Any) -> None:
        if isinstance(value, dict):
            found.update(dict.fromkeys(value))
            for each_value in value.values():
                gather(each_value)
        elif isinstance(value, list):
            for one in value:
                gather(one)

    for sample in samples:
        gather(json.loads(sample))
    return tuple(found)


def _spoilt(value: Any, words: tuple[str, ...], chance: random.Random) -> Any:
    """Return the value with one thing in it removed, changed, doubled or added, somewhere."""
    if chance.random() < 0.15 or not value or not isinstance(value, (dict, list)):
        return _nested(value, chance) if chance.random() < 0.02 else chance.choice(VALUES)
    value = copy.copy(value)
    key: Any = chance.choice(list(value) if isinstance(value, dict) else range(len(value)))
    act = chance.random()
    if act < 0.1:
        del value[key]
    elif act < 0.2 and isinstance(value, dict):
        value[chance.choice(words)] = value[key]
    elif act < 0.2:
        value.append(value[key])
    else:
        value[key] = _spoilt(value[key], words, chance)
    return value


def _nested(value: Any, chance: random.Random) -> Any:
    for _ in range(chance.choice((10, 300))):
        value = chance.choice(([value], {"items": [value]}, {"codes": [value], "id": "A"}))
    return value


def _doubled(written: str, chance: random.Random) -> str:
    """Sometimes repeat a member: the same name with another value."""
    at = written.find('"id"') if chance.random() < 0.1 else -1
    return written if at < 0 else f'{written[:at]}"id": "TWICE", {written[at:]}'
