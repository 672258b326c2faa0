"""Patterns that ``list`` accepts, and its message for a pattern without a match."""

from __future__ import annotations

import re

import pytest

from kafka_replica.cli.key_patterns import key_matches, no_match_message

URN = "urn:sdmx:org.sdmx.infomodel."
KEYS = {
    "freq": f"{URN}codelist.Codelist=SDMX:CL_FREQ(2.1)".encode(),
    "area": f"{URN}codelist.Codelist=KR_DEMO:CL_AREA(1.0)".encode(),
    "flow": f"{URN}datastructure.Dataflow=KR_DEMO:FREQ(1.0)".encode(),
    "of a topic": f"b\0{URN}codelist.Codelist=A:X(1.0)".encode(),
    "plain": b"orders/[1]",
    "bytes": b"\xff\x00\x01",
}


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("CL_*", {"freq", "area"}),
        ("CL_????", {"freq", "area"}),
        ("?", {"of a topic"}),
        ("SDMX:*", {"freq"}),
        ("*:CL_FREQ", {"freq"}),
        ("SDMX:CL_FREQ(2.*)", {"freq"}),
        ("Codelist=*", {"freq", "area", "of a topic"}),
        ("*Codelist=KR_DEMO:*", {"area"}),
        ("*FREQ*", {"freq", "flow"}),
        (f"{URN}datastructure.*", {"flow"}),
        ("orders/*", {"plain"}),
        ("*/[1]", {"plain"}),
        ("cl_*", set()),
        ("CL_", {"freq", "area"}),
        ("FREQ(", {"freq", "flow"}),
        ("CL_[FA]", set()),
        ("b*", {"of a topic"}),
        ("*", set(KEYS)),
    ],
)
def test_a_pattern_matches_keys_ids_and_references(pattern: str, found: set[str]) -> None:
    """A pattern with wildcards matches a whole key, or the id or reference in a URN; another one any part of a key."""
    assert {name for name, key in KEYS.items() if key_matches(key, pattern)} == found


@pytest.mark.parametrize("pattern", ["CX_*", "nothing"])
@pytest.mark.parametrize("name", KEYS)
def test_the_message_for_no_match_has_a_pattern_that_works(pattern: str, name: str) -> None:
    """The message names the pattern and what it is compared with; the pattern of its example matches the first key."""
    message = no_match_message([KEYS[name], b"\xff\xff"], pattern)
    assert message.startswith(f"no key matches '{pattern}', which is compared with ")
    example = re.search(r'an example is "(.*)"$', message, re.DOTALL)
    assert example is not None
    assert key_matches(KEYS[name], example[1])


def test_an_empty_topic_has_a_message_of_its_own() -> None:
    """No example can be given if there is no key."""
    assert no_match_message([], "CL_*") == "no key matches 'CL_*': the topic has no keys"
