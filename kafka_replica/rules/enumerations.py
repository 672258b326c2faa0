"""Which values an enumeration allows, and which it takes from lists that it extends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kafka_replica.errors import UnreadableContentError
from kafka_replica.sdmx import Code, Codelist, ConceptScheme, Structures, Urn, ValueList
from kafka_replica.sdmx.containers import NO_ITEMS, Items
from kafka_replica.sdmx.lookups.code_selection import selected_codes
from kafka_replica.sdmx.lookups.extensions import expanded, without_prefixes
from kafka_replica.sdmx.model import SelectedValue


@dataclass(frozen=True, slots=True)
class Enumeration:
    """The values of a list, and for a codelist its codes, and what those with a prefix are without it."""

    urn: Urn
    values: frozenset[str] = field(repr=False)
    codes: Items[Code] = field(repr=False)
    bare: Mapping[str, str] = field(default_factory=dict, repr=False)

    def selected(self, selections: tuple[SelectedValue, ...]) -> frozenset[str]:
        """The values that selections mean: patterns with ``%`` and cascades; an unknown value means itself."""
        codes = self.codes or Items(dict.fromkeys(self.values, _CODELESS))
        plain = {one.value for one in selections if "%" not in one.value and one.cascade_values != "excluderoot"}
        return frozenset(selected_codes(selections, codes) | plain)

    def without_prefix(self, values: frozenset[str]) -> frozenset[str]:
        """The values without the prefix that an extension gave them (``removePrefix``)."""
        return frozenset(self.bare.get(value, value) for value in values)


_CODELESS = Code(urn=Urn("codelist", "Code", "SDMX", "NONE", "1.0", "NONE"))


def enumeration_of(structures: Structures, urn: Urn) -> Enumeration:
    """What a codelist, value list or concept scheme allows; extensions are followed.

    Raises:
        ArtefactNotFoundError: it, or a list it extends, is not in this version.
        UnreadableContentError: it is there, but what it allows cannot be read.
        MessageError: its record is damaged.
    """
    artefact = structures.get(urn)
    if isinstance(artefact, Codelist):
        whole = expanded(artefact, structures.codelist)
        has_prefixes = any(one.prefix for one in artefact.extensions)
        bare = without_prefixes(artefact, structures.codelist) if has_prefixes else {}
        return Enumeration(artefact.urn, frozenset(whole.codes), whole.codes, bare)
    if isinstance(artefact, ValueList):
        return Enumeration(artefact.urn, frozenset(item.id for item in artefact.values), NO_ITEMS)
    if isinstance(artefact, ConceptScheme):
        # The measure dimension of 2.1 has concepts for codes.
        return Enumeration(artefact.urn, frozenset(artefact.concepts), NO_ITEMS)
    raise UnreadableContentError(
        f"reading what {urn} allows: validation knows codelists, value lists and concept schemes only"
    )
