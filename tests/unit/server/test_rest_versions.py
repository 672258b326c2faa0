"""Version expressions of SDMX REST select what the specification says."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica.sdmx.urns.versions import sort_key
from kafka_replica.server.rest.version_expressions import InvalidVersionError, parse_version
from support.effort import examples

VERSIONS = (
    "1", "2", "1.0", "1.1", "2.3", "2.4", "3.0", "0.9.0", "1.0.0", "1.0.1", "1.2.0", "1.2.5", "1.3.0-draft", "2.3.1",
    "2.3.4", "2.4.0", "2.10.0", "3.0.0-rc.1", "2.3.5-draft",
)  # fmt: skip

# The pattern of the parameter "versions" in the OpenAPI description of SDMX REST 2.2.2 (api/sdmx-rest.yaml).
_ONE = (
    r"(\+|~(\.0){0,2}|\*(\.0){0,2}|(0|[1-9]\d*)(\.(0|[1-9]\d*))?|(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}(-(([A-Za-z-]"
    r"[A-Za-z0-9-]*)|([A-Za-z0-9-]+[A-Za-z-][A-Za-z0-9-]*)|(0|[1-9][0-9]*))(\.(([A-Za-z-][A-Za-z0-9-]*)|([A-Za-z0-9-]+"
    r"[A-Za-z-][A-Za-z0-9-]*)|(0|[1-9][0-9]*)))*)?|\+\.0\.0|[1-9]\d*(\.\+\.0|\+(\.(0|[1-9]\d*)){2}|\.(0|[1-9]\d*)(\.\+|"
    r"\+\.(0|[1-9]\d*)|\.(0|[1-9]\d*)\+))|(0|[1-9]\d*)((\*|~)(\.(0|[1-9]\d*)){1,2}|\.(\*|~)(\.0)?|\.(0|[1-9]\d*)((\*|~)"
    r"(\.(0|[1-9]\d*))?|\.(0|[1-9]\d*)?(\*|~))))"
)


@pytest.mark.parametrize(
    ("expression", "selected"),
    [
        ("1.0", ["1.0"]),
        ("1.3.0-draft", ["1.3.0-draft"]),
        ("9.9", []),
        ("+", ["2.10.0"]),
        ("~", ["3.0"]),
        ("latest", ["3.0"]),
        ("2+.0.0", ["2.10.0"]),
        ("3+.0.0", []),
        ("2.+.0", ["2.10.0"]),
        ("2.0+.0", ["2.10.0"]),
        ("2.3.+", ["2.3.4"]),
        ("2.3.0+", ["2.3.4"]),
        ("2.3.2+", ["2.3.4"]),
        ("2.3+", ["2.10.0"]),
        ("~.0", ["3.0"]),
        ("~.0.0", ["3.0.0-rc.1"]),
        ("2.~", ["2.4"]),
        ("2.0~", ["2.4"]),
        ("2.~.0", ["2.10.0"]),
        ("2.3.~", ["2.3.5-draft"]),
        ("1~.1", ["3.0"]),
        ("2~.3.2", ["3.0.0-rc.1"]),
        ("*", list(VERSIONS)),
        ("*.0", ["1.0", "1.1", "2.3", "2.4", "3.0"]),
        ("2.*", ["2.3", "2.4"]),
        ("1.*.0", ["1.0.0", "1.0.1", "1.2.0", "1.2.5", "1.3.0-draft"]),
        ("1.2.*", ["1.2.0", "1.2.5"]),
        ("1.2.1*", ["1.2.5"]),
        ("2*.3", ["2.3", "2.4", "3.0"]),
        ("2.3*.2", ["2.3.4", "2.3.5-draft", "2.4.0", "2.10.0"]),
        ("2*.3.2", ["2.3.4", "2.4.0", "2.10.0", "3.0.0-rc.1", "2.3.5-draft"]),
    ],
)
def test_an_expression_selects_the_versions_of_the_specification(expression: str, selected: list[str]) -> None:
    """Each row follows from doc/querying_versions.md."""
    found = parse_version(expression).select(VERSIONS)
    assert sorted(found, key=sort_key) == sorted(selected, key=sort_key)


@pytest.mark.parametrize(
    ("expression", "versions", "selected"),
    [
        ("+", ["1.0", "2.1", "3"], ["3"]),
        ("+", ["1.0", "2.1", "3.0.0-draft"], ["2.1"]),
        ("+", ["2.1", "1.0.0"], ["1.0.0"]),
        ("+", ["0.9.0"], []),
        ("+", ["0.9.0", "0.1"], ["0.1"]),
        ("2+.0.0", ["1.0", "2.1"], ["2.1"]),
        ("2.0+.0", ["1.0", "2.1", "3.0"], ["2.1"]),
        ("2+.0.0", ["2.1", "1.0.0"], []),
        ("2.0+", ["2.1", "2.0.5"], ["2.1"]),
    ],
)
def test_legacy_versions_are_stable_only_without_semantic_ones(
    expression: str, versions: list[str], selected: list[str]
) -> None:
    """The specification knows ``x.y.z`` with ``x`` > 0; registries of 2.1 have no such versions."""
    assert parse_version(expression).select(versions) == selected


@pytest.mark.parametrize(
    ("expression", "advice"),
    [
        ("+.2.3", "+.0.0"), ("1.+.3", "1.+.0"), ("~.2", "~.0"), ("~.2.3", "~.0.0"), ("1.~.3", "1.~.0"), ("*.2", "*.0"),
        ("*.2.3", "*.0.0"), ("1.*.3", "1.*.0"), ("+.0", "+.0.0"), ("~.0.*", "one part"), ("3.2*.1+", "one part"),
        ("3.2+.1+", "one part"), ("1.x", "numbers"), ("1..2", "numbers"), ("", "numbers"), ("1.2.3.4+", "three parts"),
        ("2~", "two or three"), ("1.0-draft+", "numbers"), ("++", "numbers"), ("1+.0.0.0.0", "three parts"),
    ],
)  # fmt: skip
def test_an_unsupported_expression_is_rejected_with_advice(expression: str, advice: str) -> None:
    """The section "Unsupported syntax" of the specification, with what it says to use instead."""
    with pytest.raises(InvalidVersionError) as caught:
        parse_version(expression)
    assert advice in str(caught.value)


@pytest.mark.thorough
@settings(max_examples=examples(150), deadline=None)
@given(st.from_regex(_ONE, fullmatch=True, alphabet=st.characters(max_codepoint=126)))
def test_all_expressions_of_the_openapi_description_are_valid(expression: str) -> None:
    """Each text that matches the pattern of the official description is parsed, and selects some or no versions."""
    found = parse_version(expression).select(VERSIONS)
    assert set(found) <= set(VERSIONS)
    assert len(found) <= 1 or "*" in expression


@settings(max_examples=examples(150), deadline=None)
@given(st.text(alphabet="0123456789.+~*-abc", max_size=12))
def test_any_other_text_is_an_expression_or_an_error(text: str) -> None:
    """A text never raises anything but the error of invalid expressions."""
    with suppress(InvalidVersionError):
        assert set(parse_version(text).select(VERSIONS)) <= set(VERSIONS)
