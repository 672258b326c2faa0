"""The options of a replica are validated in one place, before anything is made or claimed."""

from __future__ import annotations

import math
from typing import Any

import pytest

from kafka_replica import ConfigurationError, MemoryStore, Replica, UsageError

CONFIG = {"bootstrap.servers": "127.0.0.1:1"}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"topic": "t", "topics": ["u"]}, "not both"),
        ({"topic": None}, "not both"),
        ({"topics": "t", "topic": None}, "not a list of topics"),
        ({"topics": ["t", "t"], "topic": None}, "different topics"),
        ({"boundaries": "offsets"}, "'auto', 'markers', 'quiescence'"),
        ({"on_bad_record": "ignore"}, "'stop', 'skip' or 'dead-letter'"),
        ({"on_bad_record": "dead-letter"}, "go together"),
        ({"key_filter": "abc"}, "is a KeyFilter"),
        ({"validator": "abc"}, "function of a record"),
        ({"header_stack": "abc"}, "it is a Stack"),
        ({"recent_changes": -1}, "a number, 0 or more"),
        ({"kept_versions": 1.5}, "a number of versions, 0 or more"),
        *(
            ({name: value}, f"{name}=.*a number of seconds, 0 or more")
            for name in ("stalled_after_s", "blocked_after_s", "barrier_timeout_s", "tombstones_kept_s")
            for value in (-1, "10", math.nan, True)
        ),
        *(({name: None}, f"{name}=None") for name in ("stalled_after_s", "blocked_after_s")),
    ],
)
def test_an_impossible_option_is_refused_and_claims_no_store(given: dict[str, Any], says: str) -> None:
    """The error names the option and what is possible; the store can be given to another replica."""
    store = MemoryStore()
    with pytest.raises(UsageError, match=says) as refused:
        Replica(CONFIG, **{"topic": "t", "store": store, **given})
    assert isinstance(refused.value, ConfigurationError)
    Replica(CONFIG, "t", store).close()


def test_zero_infinity_and_no_limit_are_possible() -> None:
    """Limits of 0 s, without end, and where possible None are accepted."""
    Replica(CONFIG, "t", stalled_after_s=math.inf, blocked_after_s=0, barrier_timeout_s=None, tombstones_kept_s=None)
