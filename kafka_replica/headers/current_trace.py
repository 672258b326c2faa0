"""The trace context of OpenTelemetry's current span as headers, to be kept until a record is written."""

from __future__ import annotations

import sys
from typing import Final

from kafka_replica.records import Headers

NAMES: Final = "traceparent", "tracestate"
"""The headers of the W3C Recommendation "Trace Context", sections 3.2 and 3.3."""


def current_trace() -> Headers:
    """Return the headers of the current span; empty without a current span.

    A program with a current span has already imported OpenTelemetry, so this function imports it only then.
    """
    if "opentelemetry.trace" not in sys.modules:
        return ()
    from opentelemetry.trace.propagation.tracecontext import (  # noqa: PLC0415 - an optional dependency
        TraceContextTextMapPropagator,
    )

    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier)
    return tuple((name, carrier[name].encode()) for name in NAMES if name in carrier)
