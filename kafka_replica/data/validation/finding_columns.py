"""The columns of the table of findings, of both engines."""

from __future__ import annotations

from typing import Final

from kafka_replica.data.validation.locations import Location
from kafka_replica.data.validation.model import FIELDS

LOCATION: Final = Location._fields
"""The columns of a table of findings that contain the location of a row."""
TIME: Final = "time"
FINDING_COLUMNS: Final = (
    *LOCATION, "series", TIME, "component", "value", "rule", "message", "severity", "artefact",
)  # fmt: skip
"""The columns of a table of findings: the location, the key of the series joined by dots, the period, the finding."""
assert set(FIELDS) <= set(FINDING_COLUMNS)  # noqa: S101 - a finding keeps all of its fields
