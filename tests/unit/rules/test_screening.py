"""Screening conditions that are true for every row that breaks a rule."""

from __future__ import annotations

import random
import re

import pytest

from kafka_replica.data.validation import generate_rows
from kafka_replica.data.validation.binding import bind_rules
from kafka_replica.data.validation.conditions import ComponentText, In, Not
from kafka_replica.data.validation.evaluation import evaluate_condition
from kafka_replica.data.validation.screening import narrowed_condition, screening_conditions
from support.rules.seeded_faults import seeded, world
from support.rules.structures_by_hand import measure, rules_of, structure, text, time, version_of

pytestmark = pytest.mark.thorough

_ODD = (
    None,
    "",
    "?",
    "T",
    "M",
    "R000",
    "R301",
    "e",
    "b",
    "2020",
    "2021-W53",
    "2020-W53",
    "1890",
    "2020-13",
    "~",
    "#N/A",
)


def test_a_broken_check_has_a_true_screen() -> None:
    """A broken check's screen is true, in rows with faults and in rows with odd values anywhere."""
    rules = world()
    source = random.Random(3)
    rows, _ = seeded(rules, 700, 4)
    rows += [{name: source.choice((value, *_ODD)) for name, value in row.items()} for row in rows]
    checks = bind_rules(rules, list(rows[0]), {}).checks
    screened = screening_conditions(rules, checks)
    assert len(screened) == len(checks)
    broken = 0
    for row in rows:
        for check, screen in zip(checks, screened, strict=True):
            if evaluate_condition(check.broken, row) is True:
                broken += 1
                assert evaluate_condition(screen, row) is True, (check, row)
    assert broken > 1000


def test_screen_and_rest_equal_the_whole_check() -> None:
    """The rest of a check whose screen is true equals the whole check and needs fewer values."""
    rules = world()
    source = random.Random(7)
    rows, _ = seeded(rules, 300, 6)
    rows += [{name: source.choice((value, *_ODD)) for name, value in row.items()} for row in rows]
    checks = bind_rules(rules, list(rows[0]), {}).checks
    left = [
        (check, screen, narrowed_condition(check.broken, screen))
        for check, screen in zip(checks, screening_conditions(rules, checks), strict=True)
    ]
    screened = 0
    for check, screen, rest in left:
        for row in rows:
            if rest != check.broken and evaluate_condition(screen, row) is True:
                screened += 1
                assert evaluate_condition(rest, row) is evaluate_condition(check.broken, row), (check, row)
    assert screened > 100
    assert any(Not(In(ComponentText("AREA"), frozenset())) == rest for _, _, rest in left)


def test_valid_rows_pass_all_screens() -> None:
    """Valid rows pass all screens, except periods in unusual notations; there are fewer screens than checks."""
    rules = world()
    rows = generate_rows(rules, 300, 5)
    checks = bind_rules(rules, list(rows[0]), {}).checks
    screened = set(screening_conditions(rules, checks))
    assert len(screened) < len(checks)
    usual = [row for row in rows if re.fullmatch("20[0-4][0-9](-[0-9]{2}|-Q[1-4])?", row["TIME_PERIOD"] or "")]
    assert len(usual) > 50
    stuck = [row for row in usual if any(evaluate_condition(screen, row) is True for screen in screened)]
    assert not stuck, stuck[:3]


def test_an_expression_that_python_cannot_read_is_no_reason_for_a_period_to_be_fine() -> None:
    """The pattern of periods has no short cut if only the engines can evaluate it; other checks of periods keep it."""
    rules = rules_of(version_of(structure(time(text("ObservationalTimePeriod", pattern=r"[\w-[Q]]+")), measure())))
    checks = bind_rules(rules, ["TIME_PERIOD", "OBS_VALUE"], {}).checks
    screened = dict(zip(checks, screening_conditions(rules, checks), strict=True))
    kept = {check.rule: screen == check.broken for check, screen in screened.items() if "TIME_PERIOD" in check.looks_at}
    assert (kept["pattern"], kept["time-period"]) == (True, False)


def test_a_column_of_lists_has_no_screen_of_its_own() -> None:
    """A column of lists has no short cut: its screen is the check itself."""
    rules = world()
    checks = bind_rules(rules, [column.id for column in rules.columns], {}).checks
    screened = dict(zip(checks, screening_conditions(rules, checks, frozenset({"AREA", "TIME_PERIOD"})), strict=True))
    for check, screen in screened.items():
        if check.looks_at & {"AREA", "TIME_PERIOD"}:
            assert screen == check.broken
