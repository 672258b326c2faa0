"""Tables of outcomes: how many tests passed, and each failure with its reason and its cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from support.conformance.runner import UNABLE, Outcome

_CAUSES: Final = (
    ("(invalid representation query)", "", "status"),
    ("/reportingtaxonomy/", "finds no items", "items"),
    ("/hierarchicalcodelist/", "finds no items", "items"),
    ("", "the kit finds no ", "classes"),
    ("", "the kit has no class", "classes"),
    ("", UNABLE, "classes"),
    ("detail=referencepartial", "ConceptScheme KR:MEASURES(1.0)", "measure scheme"),
    ("", "of another detail: ProvisionAgreement ", "agreement stubs"),
    ("", "of another detail: Metadataflow ", "metadataflow stubs"),
    ("explicitMeasure=true", "without a measure dimension", "measure dimension"),
    ("explicitMeasure=true", "ObsType lacks INDICATOR", "explicit measures"),
    ("/schema/", "SeriesType lacks TITLE", "group attributes"),
    ("/schema/", "restricts GroupType", "group types"),
    ("/agencyscheme/", "not related: ", "agencies"),
)
"""Parts of the name of a test and of its reason, and the name of their cause in the documentation."""
UNKNOWN: Final = "unknown"


def cause_of(outcome: Outcome) -> str:
    """Return the name of the cause of a failure; ``UNKNOWN`` if it has no documented one."""
    reason = outcome.reason or ""
    return next((cause for test, part, cause in _CAUSES if test in outcome.test and part in reason), UNKNOWN)


def summary(outcomes: dict[str, list[Outcome]]) -> Iterator[str]:
    """Yield a table of the numbers of tests by set of tests; a test passes if it does for each artefact."""
    yield "| tests | number | passed | failed | unable to run | artefacts tested |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for name, some in outcomes.items():
        states = {one.test: "passed" for one in some}
        states |= {one.test: "unable" if one.reason == UNABLE else "failed" for one in some if one.reason}
        count = Counter(states.values())
        cells = (len(states), count["passed"], count["failed"], count["unable"], len(some))
        yield f"| {name} | {' | '.join(f'{cell:,}' for cell in cells)} |"


def failures(outcomes: dict[str, list[Outcome]]) -> Iterator[str]:
    """Yield a table of all failures; tests that fail for the same reason share a line with all their artefacts."""
    yield "| tests | test | artefact | reason | cause |"
    yield "| --- | --- | --- | --- | --- |"
    for name, some in outcomes.items():
        failed = [one for one in some if one.reason and one.reason != UNABLE]
        grouped: dict[tuple[str, str, str], list[str]] = {}
        for one in failed:
            grouped.setdefault((one.test, one.reason or "", cause_of(one)), []).append(one.picked)
        for (test, reason, cause), picked in grouped.items():
            artefacts = ", ".join(dict.fromkeys(picked)) or "none"
            yield f"| {name} | `{test}`{_dependent(test, some)} | {artefacts} | {reason} | {cause} |"


def _dependent(test: str, outcomes: Iterable[Outcome]) -> str:
    """Return how many tests could not run because of a failed one."""
    start = test.removesuffix("all/all/all")
    if start == test:
        return ""
    count = sum(outcome.reason == UNABLE and outcome.test.startswith(start) for outcome in outcomes)
    return f" and the {count} tests that depend on it" if count else ""
