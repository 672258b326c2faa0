"""Which structure a row of SDMX-CSV is of: the words of its first two columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kafka_replica.errors import DatasetError, UrnError
from kafka_replica.rules.model import Rules
from kafka_replica.sdmx import Urn

KINDS: Final[Mapping[str, str]] = {
    "dataflow": "Dataflow", "datastructure": "DataStructure", "dataprovision": "ProvisionAgreement",
}  # fmt: skip
"""What the first column says, and the class that is meant."""


def urn_of(kind: str | None, reference: str | None) -> Urn:
    """The artefact that ``dataflow`` and ``ESTAT:NA_MAIN(1.6.0)`` mean.

    Without a version, as artefacts of SDMX 3.x may be, any is meant: ``*``.

    Raises:
        DatasetError: there is no such kind, or the reference is none.
    """
    class_ = KINDS.get((kind or "").lower())
    if class_ is None:
        raise DatasetError(
            f"reading a row of SDMX-CSV: its structure is a {kind!r}; it must be one of {', '.join(KINDS)}"
        )
    text = reference or ""
    try:
        return Urn.of_reference(class_, text if text.endswith(")") else f"{text}(*)")
    except UrnError as error:
        raise DatasetError(f"reading a row of SDMX-CSV: {error}") from error


def kind_of(urn: Urn) -> str:
    """What the first column says of an artefact.

    Raises:
        DatasetError: data cannot be of such an artefact.
    """
    for kind, class_ in KINDS.items():
        if class_ == urn.cls:
            return kind
    raise DatasetError(f"writing data of {urn}: give a Dataflow, DataStructure or ProvisionAgreement")


def belongs_to(row: Urn, rules: Rules) -> bool:
    """Whether rows of an artefact are meant by rules: it is what they are of, or its data structure."""
    return any(_same(row, one) for one in (rules.artefact, rules.structure))


def _same(row: Urn, one: Urn) -> bool:
    if (row.cls, row.agency, row.id) != (one.cls, one.agency, one.id):
        return False
    return row.version == one.version or any(mark in row.version for mark in "*+")
