"""What may come once and comes twice is refused or merged, in every format: never is one of the two dropped silently."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from sdmx_json_samples import SAMPLE, SAMPLE_1_0, message
from test_classes import DATA

from kafka_replica.errors import MessageError
from kafka_replica.sdmx import read_message, split_message

JSON_MESSAGES: Final = {
    "SDMX-JSON 1.0": message(SAMPLE_1_0, "1.0.0"),
    "SDMX-JSON 2.0": message(SAMPLE),
    "Fusion-JSON": (DATA / "every_class.fusion.json").read_bytes(),
}
MARK: Final = "a name to replace"


def objects_in(value: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of a document, with its path; items of lists have none of their own."""
    if isinstance(value, dict):
        yield path, value
        for name, inner in value.items():
            yield from objects_in(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for inner in value:
            yield from objects_in(inner, f"{path}[]")


@pytest.mark.parametrize("format_", JSON_MESSAGES)
def test_a_name_that_comes_twice_is_refused_at_any_depth(format_: str) -> None:
    """Each member of an object of each kind, repeated with another value before it, in the same words or in escapes."""
    whole = json.loads(JSON_MESSAGES[format_])
    seen: set[str] = set()
    for path, one in list(objects_in(whole)):
        for name in list(one):
            if f"{path}.{name}" in seen:
                continue
            seen.add(f"{path}.{name}")
            kept = dict(one)
            one.clear()
            one |= {MARK: kept[name], **kept}
            data = json.dumps(whole)
            one.clear()
            one |= kept
            escaped = "".join(f"\\u{ord(letter):04x}" for letter in name)
            for written in (json.dumps(name)[1:-1], escaped):
                twice = data.replace(MARK, written, 1).encode()
                with pytest.raises(MessageError, match=f"{re.escape(repr(name))} comes twice"):
                    read_message(twice)
                with pytest.raises(MessageError, match="comes twice"):
                    split_message(twice)
    assert len(seen) > 100
