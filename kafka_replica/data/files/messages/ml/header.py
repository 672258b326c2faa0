"""The header of an SDMX-ML message: the structures of its data sets, and their action.

Source: SDMX-ML 2.1, 3.0 and 3.1, ``PayloadStructureType`` of the common namespace; SDMX-ML 2.0, ``HeaderType``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from kafka_replica.data.errors import DatasetError

PROVISION: Final = "dataprovision"
_KINDS: Final = {
    "DataStructure": "datastructure", "KeyFamily": "datastructure", "Structure": "datastructure",
    "Dataflow": "dataflow", "StructureUsage": "dataflow",
    "ProvisionAgreement": PROVISION, "ProvisionAgrement": PROVISION,
}  # fmt: skip
_REFERENCES: Final = frozenset({"Structure", "StructureUsage", "ProvisionAgreement", "ProvisionAgrement"})
_URN: Final = re.compile(
    r"\b(?P<cls>KeyFamily|DataStructure|Dataflow|ProvisionAgree?ment)=(?P<agency>[\w.@$-]+):(?P<id>[\w@$-]+)"
    r"(?:\((?P<version>[^()]+)\)|:(?P<old>\d[\w.]*))?"
)
_FORMATS: Final = frozenset({"compact", "cross", "generic", "utility"})
"""The last parts of namespaces of 2.0, ``KeyFamily=AGENCY:ID:compact``; some senders leave out the id before them."""
_AT_OBSERVATION: Final = re.compile(r":ObsLevelDim:(?P<id>[\w@$-]+)")
_DEEPEST: Final = 100
_SHOWN: Final = 10


class Reference(NamedTuple):
    """The structure of a data set, as SDMX-CSV writes it; attributes that the message does not give are None.

    Attributes:
        kind: ``dataflow``, ``datastructure`` or ``dataprovision``.
        text: ``AGENCY:ID(VERSION)``.
        at_observation: the dimension at the observation.
        is_explicit: whether observations name their measure by their type.
    """

    kind: str | None = None
    text: str | None = None
    at_observation: str | None = None
    is_explicit: bool = False


def reference_in(text: str) -> Reference:
    """Return the structure that a URN, or a namespace built from a URN, refers to."""
    found, at = _URN.search(text), _AT_OBSERVATION.search(text)
    dimension = None if at is None else at["id"]
    if found is None or (found["cls"] == "KeyFamily" and found["id"] in _FORMATS and found.end("id") == len(text)):
        return Reference(at_observation=dimension)
    version = found["version"] or found["old"] or "*"
    return Reference(_KINDS[found["cls"]], f"{found['agency']}:{found['id']}({version})", dimension)


class Header:
    """The header, read event by event.

    Attributes:
        structures: the structures by their ids in the message.
        namespaces: the namespaces of the elements with their data.
        texts: the texts of simple elements, by name.
        notes: remarks on references of data sets.
    """

    def __init__(self) -> None:
        self.structures: dict[str, Reference] = {}
        self.namespaces: set[str] = set()
        self.texts: dict[str, str] = {}
        self.notes: tuple[str, ...] = ()
        self._referred: set[str] = set()
        self._path: list[str] = []
        self._text: list[str] = []
        self._payload: Mapping[str, str] | None = None
        self._payload_depth = 0
        self._found = Reference()

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Handle the start of an element within the header.

        Raises:
            DatasetError: elements are nested too deeply.
        """
        local = name.rpartition("}")[2]
        self._path.append(local)
        self._text.clear()
        if len(self._path) > _DEEPEST:
            raise DatasetError(f"its header has more than {_DEEPEST} nested elements")
        if self._payload is None:
            if "structureID" in attributes:
                self._payload, self._payload_depth = dict(attributes), len(self._path)
                self._found = Reference()
        elif local == "Ref" and self._path[-2] in _REFERENCES and attributes.get("id"):
            kind = _KINDS.get(attributes.get("class", ""), _KINDS[self._path[-2]])
            version = attributes.get("version", "1.0")  # the default in the schema of 2.1
            self._found = Reference(kind, f"{attributes.get('agencyID')}:{attributes['id']}({version})")

    def text(self, text: str) -> None:
        """Handle a part of the text of an element."""
        self._text.append(text)

    @property
    def is_complete(self) -> bool:
        """Return whether the next end of an element is that of the header itself."""
        return not self._path

    def end(self, name: str) -> None:
        """Handle the end of an element within the header."""
        del name
        text, local = "".join(self._text).strip(), self._path.pop()
        self._text.clear()
        if self._payload is None:
            if not self._path:
                self.texts.setdefault(local, text)
        elif len(self._path) < self._payload_depth:
            self.structures[self._payload["structureID"]] = self._completed(self._payload)
            self.namespaces.update(filter(None, [self._payload.get("namespace")]))
            self._payload = None
        elif self._found.text is None and text:
            self._found = reference_in(text)

    def reference_of(self, attributes: Mapping[str, str], namespace: str) -> Reference:
        """Return the structure of a data set.

        Args:
            attributes: the XML attributes of its element, by local names.
            namespace: the namespace of its element, which is built from the structure in 2.0.

        Raises:
            DatasetError: the header declares structures, but it is not clear which is that of the data set.
        """
        if self.structures:
            return self._declared(attributes.get("structureRef"))
        for found in (
            reference_in(attributes.get("keyFamilyURI", "")),
            self.key_family(self.texts.get("KeyFamilyRef", "")),
            reference_in(namespace),
            _named("dataflow", attributes.get("dataflowAgencyID"), attributes.get("dataflowID")),
        ):
            if found.text is not None:
                return found
        return Reference()

    def _declared(self, id_: str | None) -> Reference:
        """Return the declared structure that a data set refers to.

        Some services write a ``structureRef`` that differs from their only ``structureID``. The only structure is
        therefore used for one unknown reference, but not for several different ones.
        """
        if id_ is not None:
            self._referred.add(id_)
        if id_ in self.structures:
            return self.structures[id_]
        declared = ", ".join([repr(structure[:80]) for structure in self.structures][:_SHOWN])
        if len(self.structures) == 1 and len(self._referred) <= 1:
            if id_ is not None:
                note = f"a data set refers to the structure {id_[:80]!r}, which the header does not declare; "
                self.notes = (f"{note}it was read as data of the only structure that the header declares, {declared}",)
            return next(iter(self.structures.values()))
        wrong = (
            "no structureRef" if id_ is None else f"the structureRef {id_[:80]!r}, which the header does not declare"
        )
        raise DatasetError(
            f"a data set has {wrong}, so its structure is unknown; refer to a structureID of the header ({declared})"
        )

    def key_family(self, id_: str) -> Reference:
        """Return a data structure of 2.0 by its id; empty if the header does not name the agency."""
        return _named("datastructure", self.texts.get("KeyFamilyAgency"), id_)

    def _completed(self, payload: Mapping[str, str]) -> Reference:
        named = reference_in(payload.get("namespace", ""))
        kind, text = (self._found if self._found.text is not None else named)[:2]
        at_observation = payload.get("dimensionAtObservation") or named.at_observation
        is_explicit = payload.get("explicitMeasures") in {"true", "1"}
        return Reference(kind, text, at_observation, is_explicit)


def _named(kind: str, agency: str | None, id_: str | None) -> Reference:
    """Return a structure that is named without a version, as in 2.0; empty if its agency or id is missing."""
    return Reference(kind, f"{agency}:{id_}(*)") if agency and id_ else Reference()
