"""The editions 1.0, 2.0 and 2.1 of SDMX-JSON, as the writer needs them."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.shared.reading.identity import DEFAULT_VERSION
from kafka_replica.sdmx.formats.shared.writing.references import WITHOUT_URN
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.urns.urn import Urn

_is_legacy_version = re.compile(r"[0-9]+(\.[0-9]+)*").fullmatch


class Edition(NamedTuple):
    """An edition of SDMX-JSON."""

    format: Format

    @property
    def is_10(self) -> bool:
        """True for 1.0, which has the classes of SDMX 2.1."""
        return self.format is Format.SDMX_JSON_1_0

    @property
    def is_21(self) -> bool:
        """True for 2.1, which has the classes of SDMX 3.1."""
        return self.format is Format.SDMX_JSON_2_1

    def check(self, urn: Urn) -> None:
        """Raise UnwritableError for a version that 1.0 does not allow."""
        if self.is_10 and not _is_legacy_version(urn.version):
            raise UnwritableError(f"{urn} has the version {urn.version!r}, but versions of 1.0 are numbers with dots")

    def own_urn(self, urn: Urn) -> str | None:
        """Return the URN that an artefact carries, or None for classes that the schemas omit."""
        return None if urn.cls in WITHOUT_URN.get(self.format, ()) else str(urn)

    def own_version(self, urn: Urn) -> str | None:
        """Return the version that an artefact states. The schemas know 1.0 of a metadata set only as the default."""
        is_default = urn.cls == "MetadataSet" and urn.version == DEFAULT_VERSION
        return None if is_default else urn.version

    def since_2(self, value: Any, what: str) -> None:
        """Raise UnwritableError for a value that 1.0 cannot represent."""
        if self.is_10 and value:
            raise UnwritableError(f"SDMX-JSON 1.0 cannot represent {what}")

    def until_2(self, value: Any, what: str) -> None:
        """Raise UnwritableError for a value that 2.x cannot represent."""
        if not self.is_10 and value:
            raise UnwritableError(f"{self.format.title} cannot represent {what}")
