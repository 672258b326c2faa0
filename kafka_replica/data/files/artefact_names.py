"""The names of an artefact, its components and their codes, for files that contain names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kafka_replica.sdmx import EffectiveComponent, Structures, Urn
from kafka_replica.sdmx.model import ValueList


@dataclass(frozen=True, slots=True)
class Names:
    """Names in one language.

    Attributes:
        structure: the name of the artefact.
        components: names by the component's id.
        codes: names by the component's id, then by the code's id; only for coded components.
    """

    structure: str
    components: Mapping[str, str]
    codes: Mapping[str, Mapping[str, str]] = field(repr=False)


def names_of(structures: Structures, reference: Urn | str, language: str = "en") -> Names:
    """Return the names of an artefact in a language; a name that lacks it is given in another language.

    Args:
        structures: the structural metadata.
        reference: the artefact: a data structure, dataflow or provision agreement.
        language: the language, as a tag such as ``en``.

    Raises:
        SdmxError: a required artefact is missing from ``structures``, or cannot be read.
    """
    found = structures.resolve(reference)
    artefact = found.provision_agreement or found.dataflow or found.data_structure
    components = {
        id_: (component.concept.name(language) if component.concept is not None else None) or id_
        for id_, component in found.components.items()
    }
    codes = {
        id_: _codes(component, language)
        for id_, component in found.components.items()
        if component.enumeration is not None
    }
    return Names(artefact.name(language) or artefact.id, components, codes)


def _codes(effective_component: EffectiveComponent, language: str) -> dict[str, str]:
    if isinstance(effective_component.enumeration, ValueList):
        return {value.id: value.name(language) or "" for value in effective_component.enumeration.values}
    assert effective_component.enumeration is not None  # noqa: S101 - for mypy
    return {id_: item.name(language) or "" for id_, item in effective_component.enumeration.items.items()}
