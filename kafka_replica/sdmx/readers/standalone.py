"""Where concepts and agencies go that stand alone, in formats older than SDMX-ML 2.1.

A concept of SDMX-ML 1.0, 2.0 or SDMX-EDI may have no scheme, and agencies of 1.0 and 2.0 are in no AgencyScheme.
Registries put them where SDMX 2.1 has a place for them.
"""

from __future__ import annotations

from typing import Final

from kafka_replica.sdmx.readers.identity import DEFAULT_VERSION
from kafka_replica.sdmx.urn import Urn

STANDALONE_CONCEPTS: Final = "STANDALONE_CONCEPT_SCHEME"

AGENCIES: Final = Urn.of("AgencyScheme", "SDMX", "AGENCIES", DEFAULT_VERSION)
"""The scheme of agencies that are in none."""

FIXED_COMPONENT_IDS: Final = {"TimeDimension": "TIME_PERIOD", "PrimaryMeasure": "OBS_VALUE"}
"""Components have no ids before 2.1: theirs is the concept's, but for these, which 2.1 fixes."""


def concept_scheme_urn(agency: str) -> Urn:
    """The scheme of an agency's concepts that are in none. Raises UrnError."""
    return Urn.of("ConceptScheme", agency, STANDALONE_CONCEPTS, DEFAULT_VERSION)


def concept_urn(agency: str, concept: str) -> Urn:
    """A concept that is in no scheme. Raises UrnError."""
    return Urn.of("Concept", agency, STANDALONE_CONCEPTS, DEFAULT_VERSION, concept)
