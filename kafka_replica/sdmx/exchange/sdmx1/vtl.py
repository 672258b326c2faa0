"""What schemes of one class alone have: a grid, and the schemes that transformations use. There and back."""

from __future__ import annotations

from typing import Any, Final

from kafka_replica.sdmx.exchange.sdmx1.basics import Edition, reference_from, reference_to
from kafka_replica.sdmx.model import GeoGridCodelist, ItemScheme, TransformationScheme

_ONE: Final = ("vtl_mapping_scheme", "name_personalisation_scheme", "custom_type_scheme")
_FIRST: Final = {
    "ruleset_schemes": "ruleset_scheme",
    "user_defined_operator_schemes": "user_defined_operator_scheme",
}


def scheme_fields_to(artefact: ItemScheme, edition: Edition) -> dict[str, Any]:
    """Fields of the scheme itself; of several rulesets' or operators' schemes sdmx1 holds the first."""
    if isinstance(artefact, GeoGridCodelist):
        return {"grid_definition": artefact.grid_definition}
    if isinstance(artefact, TransformationScheme):
        one = {name: reference_to(getattr(artefact, name), edition) for name in _ONE}
        first = {
            theirs: reference_to(next(iter(getattr(artefact, ours)), None), edition) for ours, theirs in _FIRST.items()
        }
        return one | first
    return {}


def scheme_fields_from(obj: Any, class_: str) -> dict[str, Any]:
    """Return the same by our names."""
    if class_ == "GeoGridCodelist":
        return {"grid_definition": obj.grid_definition}
    if class_ == "TransformationScheme":
        one = {name: reference_from(getattr(obj, name)) for name in _ONE}
        several = {
            ours: tuple(urn for urn in [reference_from(getattr(obj, theirs))] if urn is not None)
            for ours, theirs in _FIRST.items()
        }
        return one | several
    return {}
