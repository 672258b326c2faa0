"""Which values an enumeration allows."""

from __future__ import annotations

import re

from kafka_replica.errors import UnreadableContentError
from kafka_replica.sdmx import Code, Codelist, CodelistExtension, ConceptScheme, Structures, Urn, ValueList


def allowed_values(structures: Structures, enumeration: Urn) -> frozenset[str]:
    """The ids that a codelist, value list or concept scheme allows.

    A codelist of 3.x that extends others allows theirs too: prefixed, and chosen by id or by pattern
    (SDMX 3.0 Section 2, "Codelist extension").

    Raises:
        ArtefactNotFoundError: it, or a list it extends, is not in this version.
        UnreadableContentError: it is there, but what it allows cannot be read.
        MessageError: its record is damaged.
    """
    artefact = structures.get(enumeration)
    if isinstance(artefact, Codelist):
        return frozenset(_codes(structures, artefact, (artefact.urn,)))
    if isinstance(artefact, ValueList):
        return frozenset(item.id for item in artefact.values)
    if isinstance(artefact, ConceptScheme):
        # The measure dimension of 2.1 has concepts for codes.
        return frozenset(artefact.concepts)
    raise UnreadableContentError(
        f"reading what {enumeration} allows: validation knows codelists, value lists and concept schemes only"
    )


def _codes(structures: Structures, codelist: Codelist, path: tuple[Urn, ...]) -> dict[str, Code]:
    """Its codes by id, those of the lists it extends first."""
    codes: dict[str, Code] = {}
    for extension in codelist.extensions:
        other = structures.codelist(extension.codelist)
        if other.urn in path:
            raise UnreadableContentError(
                f"reading what {path[0]} allows: {other.urn} extends itself; have the lists published again"
            )
        inherited = _codes(structures, other, (*path, other.urn))
        codes |= {
            f"{extension.prefix or ''}{code}": inherited[code] for code in _chosen(codelist, extension, inherited)
        }
    return codes | dict(codelist.codes)


def _chosen(codelist: Codelist, extension: CodelistExtension, codes: dict[str, Code]) -> set[str]:
    members = extension.inclusive or extension.exclusive
    if any(member.cascade_values not in {None, "false"} for member in members):
        raise UnreadableContentError(
            f"reading what {codelist.urn} allows: its extension of {extension.codelist} cascades over children, "
            "which is not supported yet"
        )
    if not members:
        return set(codes)
    patterns = [".*".join(re.escape(part) for part in member.value.split("%")) for member in members]
    fits = re.compile("|".join(patterns)).fullmatch
    return {code for code in codes if bool(fits(code)) == bool(extension.inclusive)}
