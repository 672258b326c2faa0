"""Version rules, and the order of versions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_replica.sdmx.urns.versions import fits, is_stable, is_wildcard, newest, rule_in, sort_key, superseding

KNOWN = ["1.0", "1.0.1", "1.2.0", "1.10.0", "2.0.0", "2.1.0-draft", "3.0.0-rc.2"]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("*", "2.0.0"),
        ("+", "2.0.0"),
        ("~", "3.0.0-rc.2"),
        ("1+.0.0", "2.0.0"),
        ("1+.0", "2.0.0"),
        ("1+", "2.0.0"),
        ("1.0+.0", "1.10.0"),
        ("1.0.0+", "1.0.1"),
        ("1.2.1+", None),
        ("3+.0.0", None),
        ("1.0+", "1.10.0"),
        ("1.0", "1.0"),
        ("2.1.0-draft", "2.1.0-draft"),
        ("9.9", None),
        ("1+.x", None),
    ],
)
def test_a_rule_selects_the_newest_stable_version(rule: str, expected: str | None) -> None:
    """A rule means the newest stable version that fits; drafts are found only by name and by ``~``.

    The parts before the plus are fixed.
    """
    assert newest(rule, KNOWN) == expected
    assert newest(rule, reversed(KNOWN)) == expected


def test_examples_of_the_standard() -> None:
    """The rules 2+.3.1, 2.3+.1 and 2.3.1+ mean what section 6, "Semantic Versioning", states."""
    known = ["2.3.0", "2.3.1", "2.3.7", "2.4.0", "2.9.0", "3.0.0", "4.2.1", "4.3.0-draft"]
    assert newest("2+.3.1", known) == "4.2.1"
    assert newest("2.3+.1", known) == "2.9.0"
    assert newest("2.3.1+", known) == "2.3.7"
    assert [one for one in known if fits("2.3.1+", one)] == ["2.3.1", "2.3.7"]


@pytest.mark.parametrize(
    ("version", "expected"),
    [("1.0.1", "2.0.0"), ("1.0.0-draft", "2.0.0"), ("2.0.0-draft", "2.0.0"), ("2.0.0", None), ("1.0", None),
     ("2.1.0-draft", None)],
)  # fmt: skip
def test_a_later_stable_version_supersedes_semantic_versions(version: str, expected: str | None) -> None:
    """Drafts supersede nothing, and legacy versions are not superseded."""
    assert superseding(version, [*KNOWN, "9.0"]) == expected


def test_references_in_a_draft() -> None:
    """In a draft 2.3+.1 means the latest version in its scope, drafts included (section 6, "Dependency Management")."""
    known = ["2.3.0", "2.3.1", "2.4.3", "2.5.0-draft", "3.0.0-draft"]
    assert (rule_in("2.3+.1", "2.2.1"), rule_in("2.3", "2.2.1-draft")) == ("2.3+.1", "2.3")
    assert newest(rule_in("2.3+.1", "2.2.1"), known) == "2.4.3"
    assert newest(rule_in("2.3+.1", "2.2.1-draft"), known) == "2.5.0-draft"
    assert newest(rule_in("2+.3.1", "2.2.1-draft"), known) == "3.0.0-draft"
    assert newest(rule_in("+", "1.0-draft"), known) == "3.0.0-draft"
    draft = rule_in(rule_in("2.5.0+", "1.0.0-x"), "1.0.0-x")
    assert newest(draft, known) is None, "a draft comes before its version"
    assert newest(draft, [*known, "2.5.1-draft"]) == "2.5.1-draft"
    assert is_wildcard(draft)


def test_legacy_versions_compare_by_number() -> None:
    """Versions of one, two or more parts follow the same rules, and compare by number, not by digits."""
    known = ["1", "1.9", "1.10", "2.0", "2.0.0"]
    assert newest("1.0+", known) == "1.10"
    assert newest("+", known) == "2.0.0"
    assert newest("1+.10", known) == "2.0.0"
    assert newest("1.0+", ["1"]) == "1"
    assert sort_key("1.03")[0] == sort_key("1.3")[0]


def test_versions_order_by_number() -> None:
    """Numbers order as numbers, a draft comes before its version, a legacy version before the semantic version."""
    ordered = [
        "1.0.0-draft", "1", "1.0", "1.0.0", "1.0.1", "1.9.0-1", "1.9.0-2", "1.9.0-10", "1.9.0-alpha", "1.9.0-alpha.2",
        "1.9.0-alpha.10", "1.9.0-beta", "1.9.0-draft", "1.9", "1.9.0", "1.10", "1.10.0", "2.0",
    ]  # fmt: skip
    assert sorted(sorted(ordered), key=sort_key) == ordered


def test_a_star_accepts_a_draft_if_there_is_nothing_else() -> None:
    """A star accepts a draft if there is nothing else; a plus does not."""
    assert newest("*", ["1.0.0-draft"]) == "1.0.0-draft"
    assert newest("+", ["1.0.0-draft"]) is None


NUMBERS = st.lists(st.integers(0, 30).map(str), min_size=1, max_size=4).map(".".join)
SEMANTIC = st.tuples(*[st.integers(0, 3)] * 3)
VERSIONS = st.lists(
    NUMBERS
    | SEMANTIC.map(lambda parts: "{}.{}.{}".format(*parts))
    | st.tuples(SEMANTIC, st.sampled_from(["draft", "rc.1", "rc.10", "1"])).map(
        lambda one: "{}.{}.{}-{}".format(*one[0], one[1])
    ),
    max_size=12,
)  # fmt: skip


@pytest.mark.thorough
@given(SEMANTIC, st.integers(0, 2), VERSIONS)
def test_a_plus_selects_below_the_next_part(least: tuple[int, int, int], at: int, versions: list[str]) -> None:
    """A plus means the newest triple that is at least the stated one and below the next of the part before the plus."""
    rule = ".".join(f"{part}+" if index == at else str(part) for index, part in enumerate(least))
    below = [(99, 0, 0), (least[0] + 1, 0, 0), (least[0], least[1] + 1, 0)][at]
    semantic = {
        version: tuple(int(part) for part in version.split("."))
        for version in versions
        if version.count(".") == 2 and "-" not in version
    }  # fmt: skip
    expected = [one for one, parts in semantic.items() if least <= parts < below]
    found = newest(rule, semantic)
    assert {one for one in semantic if fits(rule, one)} == set(expected)
    assert (found is None) == (not expected)
    if found is not None:
        assert semantic[found] == max(semantic[one] for one in expected)


@given(VERSIONS)
def test_order_is_total_and_rules_agree_with_it(versions: list[str]) -> None:
    """Different versions differ in the order; ``~`` is the last of it, ``+`` the last stable version."""
    different = sorted(set(versions), key=sort_key)
    keys = [sort_key(one) for one in different]
    assert keys == sorted(keys)
    # The strategy generates no leading zeros, so different spellings are different versions.
    assert len(set(keys)) == len(different)
    assert newest("~", versions) == (different[-1] if different else None)
    stable = [one for one in different if is_stable(one)]
    assert newest("+", versions) == (stable[-1] if stable else None)
    assert newest("*", versions) == ([None, *different, *stable])[-1]


@pytest.mark.thorough
@given(st.text(max_size=20), VERSIONS)
def test_any_text_is_a_rule_that_fits_or_does_not(rule: str, versions: list[str]) -> None:
    """Any text as a rule raises nothing, and finds one of the versions or none."""
    found = newest(rule, versions)
    assert found is None or found in versions
    if not is_wildcard(rule):
        assert found in {None, rule}
