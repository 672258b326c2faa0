"""Shared parts of all objects of pysdmx: identity, a single name, annotations, validity, representations."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final, NamedTuple

from kafka_replica.sdmx.errors import NotExpressibleError
from kafka_replica.sdmx.model.base import Annotation, Identifiable, Maintainable, Nameable
from kafka_replica.sdmx.model.representation import Representation, TextFormat
from kafka_replica.sdmx.urns.urn import Urn
from support.sdmx.pysdmx_objects.library import pysdmx

_FACETS: Final = ("min_length", "max_length", "time_interval", "decimals", "pattern")
_NUMBERS: Final = ("min_value", "max_value", "start_value", "end_value", "interval")


class Work(NamedTuple):
    """The context of a conversion: the artefact's URN and the language."""

    urn: Urn
    language: str | None

    def refused(self, why: str) -> NotExpressibleError:
        """Return the error for content that would have another meaning in pysdmx."""
        return NotExpressibleError(f"converting {self.urn} to pysdmx: {why}")

    def instant(self, text: str | None) -> datetime | None:
        """Convert a date or time; without a zone it is in UTC, as in pysdmx's own readers."""
        if text is None:
            return None
        padded = f"{text}-01-01"[: max(10, len(text))] if len(text) in {4, 7} else text
        try:
            found = datetime.fromisoformat(padded)
        except ValueError:
            raise self.refused(f"{text!r} is not a date or time of the calendar, and it holds no others") from None
        return found if found.tzinfo else found.replace(tzinfo=UTC)

    def identified(self, one: Identifiable) -> dict[str, Any]:
        """Return the arguments of an identifiable."""
        return {
            "id": one.id,
            "urn": str(one.urn),
            "uri": one.uri,
            "annotations": self.annotations(one.annotations),
        }

    def named(self, one: Nameable) -> dict[str, Any]:
        """Return the arguments of a nameable."""
        texts = {"name": one.name(self.language), "description": one.description(self.language)}
        return {**self.identified(one), **texts}

    def maintained(self, one: Maintainable, *, partial: bool = False) -> dict[str, Any]:
        """Return the arguments of a maintainable; with ``partial`` of an item scheme."""
        return {
            **self.named(one),
            "version": one.version,
            "agency": one.agency,
            "valid_from": self.instant(one.valid_from),
            "valid_to": self.instant(one.valid_to),
            # In 3.x the version implies it; pysdmx's readers of 3.x derive the flag from the version.
            "is_final": one.is_final or _is_stable(one.version),
            "is_external_reference": one.is_external_reference,
            "service_url": one.service_url,
            "structure_url": one.structure_url,
            **({"is_partial": one.is_partial} if partial else {}),
        }

    def annotations(self, found: tuple[Annotation, ...]) -> tuple[Any, ...]:
        """Convert annotations: the text in the language, or else the value."""
        return tuple(
            pysdmx().Annotation(
                id=one.id,
                title=one.title,
                type=one.type,
                url=one.urls.in_language(self.language),
                text=one.value if one.value is not None else one.text.in_language(self.language),
            )
            for one in found
        )

    def representation(self, one: Representation | None, prefix: str = "") -> dict[str, Any]:
        """Return the arguments for a representation, of a concept, or with a prefix of a component."""
        if one is None:
            return {}
        found: dict[str, Any] = {}
        if one.format is not None:
            found |= {f"{prefix}dtype": self.data_type(one.format), f"{prefix}facets": self.facets(one.format)}
        if one.enumeration is not None:
            found[f"{prefix}enum_ref"] = str(one.enumeration)
        return found

    def bounds(self, one: Representation | None) -> dict[str, Any]:
        """Return the bounds on the number of values of a component; an empty result for a single value."""
        if one is None or (one.max_occurs is None and one.min_occurs is None):
            return {}
        least = 1 if one.min_occurs is None else one.min_occurs
        most = None if one.max_occurs == "unbounded" else 1 if one.max_occurs is None else one.max_occurs
        return {"array_def": pysdmx().ArrayBoundaries(least, most)}

    def data_type(self, one: TextFormat) -> Any:
        """Return the data type, or None."""
        types = {kind.value: kind for kind in pysdmx().DataType}
        if one.text_type is not None and one.text_type not in types:
            raise self.refused(f"it has no data type {one.text_type}")
        return None if one.text_type is None else types[one.text_type]

    def facets(self, one: TextFormat) -> Any:
        """Return the facets, or None if there are none."""
        found = {name: getattr(one, name) for name in _FACETS} | {
            name: _number(getattr(one, name)) for name in _NUMBERS
        }
        found |= {"start_time": self.instant(one.start_time), "end_time": self.instant(one.end_time)}
        found |= {"is_sequence": bool(one.is_sequence), "is_multilingual": bool(one.is_multi_lingual)}
        is_empty = not any(value is not None and value is not False for value in found.values())
        return None if is_empty else pysdmx().Facets(**found)


def _is_stable(version: str) -> bool:
    return "-" not in version and version.count(".") == 2


def _number(value: Decimal | None) -> int | float | None:
    if value is None:
        return None
    return int(value) if value == value.to_integral_value() else float(value)


def reference(urn: Urn | None) -> Any:
    """Convert a reference to an artefact or an item."""
    if urn is None:
        return None
    if urn.item is None:
        return pysdmx().Reference(urn.cls, urn.agency, urn.id, urn.version)
    return pysdmx().ItemReference(urn.cls, urn.agency, urn.id, urn.version, urn.item)


def written(urn: Urn | None) -> str | None:
    """Return a URN as text, or None."""
    return None if urn is None else str(urn)
