"""References to the structure of a row of SDMX-CSV, which are in its first two columns."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final, TypeVar

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.validation.model import Rules
from kafka_replica.sdmx import Dataflow, Structures, Urn
from kafka_replica.sdmx.errors import SdmxError, UrnError
from kafka_replica.sdmx.model import ProvisionAgreement
from kafka_replica.sdmx.urns.versions import fits

_BEFORE_NAME: Final = re.compile(r"([^:()]+:[^:()]+\([^()]*\)):")
"""A reference that a name follows; some services write no blank between them."""
T = TypeVar("T", Dataflow, ProvisionAgreement)

KINDS: Final[Mapping[str, str]] = {
    "dataflow": "Dataflow", "datastructure": "DataStructure", "dataprovision": "ProvisionAgreement",
}  # fmt: skip
"""The artefact class for each word in the first column."""


def urn_of(kind: str | None, reference: str | None, where: str = "a row of data") -> Urn:
    """Return the artefact that a kind and a reference such as ``dataflow`` and ``ESTAT:NA_MAIN(1.6.0)`` denote.

    A reference without a version, which artefacts of SDMX 3.x may lack, means any version (``*``). A name after the
    reference (``ESTAT:NA_MAIN(1.6.0):National accounts``) is ignored.

    Args:
        kind: the kind.
        reference: the reference.
        where: the location of both, for errors.

    Raises:
        DatasetError: the kind is unknown, or the reference is invalid.
    """
    class_ = KINDS.get((kind or "").lower())
    if class_ is None:
        raise DatasetError(
            f"reading {where}: the kind of the structure is {repr(kind) if kind else 'missing'}; it must be one of "
            f"{', '.join(KINDS)}"
        )
    text = reference or ""
    before_name = _BEFORE_NAME.match(text)
    text = text if before_name is None else before_name[1]
    try:
        return Urn.of_reference(class_, text if text.endswith(")") else f"{text}(*)")
    except UrnError as error:
        raise DatasetError(f"reading {where}: {error}") from error


def kind_of(urn: Urn) -> str:
    """Return the word for an artefact in the first column.

    Raises:
        DatasetError: data cannot belong to such an artefact.
    """
    for kind, class_ in KINDS.items():
        if class_ == urn.cls:
            return kind
    raise DatasetError(f"writing data of {urn}: give a Dataflow, DataStructure or ProvisionAgreement")


def belongs_to(row: Urn, rules: Rules, usages: Collection[Urn] = ()) -> bool:
    """Return whether rules apply to rows of an artefact.

    They apply to the artefact of the rules, its data structure, and the artefacts in ``usages``.

    Args:
        row: the artefact that the row names.
        rules: the rules.
        usages: the result of :func:`usages_of`.
    """
    return any(_same(row, usage) for usage in (rules.artefact, rules.structure, *usages))


def usages_of(structures: Structures, rules: Rules) -> frozenset[Urn]:
    """Return the other artefacts whose data is also data of the rules' artefact.

    For a data structure, these are its dataflows and their provision agreements; for a dataflow, its provision
    agreements; for a provision agreement, its dataflow. To find them, all provision agreements are read, and for a data
    structure all dataflows as well; artefacts that cannot be read, and stubs, are left out.
    """
    artefact = rules.artefact
    if artefact.cls == "ProvisionAgreement":
        named = structures.get(artefact)
        flow = named.dataflow if isinstance(named, ProvisionAgreement) else None
        return frozenset() if flow is None else frozenset({structures.get(flow).urn})
    flows = {artefact}
    if artefact.cls == "DataStructure":
        flows = {one.urn for one in _all(structures, Dataflow) if _leads_to(structures, one.structure, {artefact})}
    agreements = _all(structures, ProvisionAgreement)
    below = {agreement.urn for agreement in agreements if _leads_to(structures, agreement.dataflow, flows)}
    return frozenset((flows | below) - {artefact})


def _all(structures: Structures, class_: type[T]) -> Iterator[T]:
    for urn in structures.find(class_.__name__):
        try:
            found = structures.get(urn)
        except SdmxError:
            continue
        if isinstance(found, class_) and not found.is_stub:  # a stub does not name what it refers to
            yield found


def _leads_to(structures: Structures, reference: Urn | None, wanted: set[Urn]) -> bool:
    """Return whether a reference denotes one of the wanted artefacts; its version may be a range (``1.0+``)."""
    if reference is None or all((one.agency, one.id) != (reference.agency, reference.id) for one in wanted):
        return False
    try:
        return structures.get(reference).urn in wanted
    except SdmxError:
        return False


def _same(row: Urn, urn: Urn) -> bool:
    if (row.cls, row.agency, row.id) != (urn.cls, urn.agency, urn.id):
        return False
    return row.version == urn.version or fits(row.version, urn.version)
