"""The choice between an HTML page and an answer for programs. Source: RFC 9110, section 12.5.1 (Accept)."""

from __future__ import annotations

from typing import Final

from kafka_replica.common.quality_values import accepted_in
from kafka_replica.server.errors.problems import PROBLEM

_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
_JSON: Final = frozenset({"application/json", PROBLEM})


def prefers_html(accept: str) -> bool:
    """Return whether the header ``Accept`` names HTML, and does not prefer JSON to it, as is the case for browsers.

    Ranges such as ``*/*`` do not count, so that programs get JSON.
    """
    best = {"html": 0.0, "json": 0.0}
    for one in accepted_in(accept):
        for name, essences in (("html", _HTML), ("json", _JSON)):
            if one.name in essences:
                best[name] = max(best[name], one.quality)
    return best["html"] > 0 and best["html"] >= best["json"]
