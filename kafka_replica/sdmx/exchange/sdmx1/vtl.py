"""Parts of schemes that only one class has, in both directions: a grid, and the schemes that transformations use."""

from __future__ import annotations

from typing import Any, Final

from kafka_replica.sdmx.exchange.sdmx1.shared_parts import Edition, reference_from, reference_to
from kafka_replica.sdmx.model import GeoGridCodelist, ItemScheme, TransformationScheme

_ONE: Final = ("vtl_mapping_scheme", "name_personalisation_scheme", "custom_type_scheme")
_FIRST: Final = {
    "ruleset_schemes": "ruleset_scheme",
    "user_defined_operator_schemes": "user_defined_operator_scheme",
}


def scheme_fields_to(artefact: ItemScheme, edition: Edition) -> dict[str, Any]:
    """Return fields of the scheme itself; sdmx1 holds only the first of several ruleset or operator schemes."""
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
    """Return the fields of the scheme itself by our names."""
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
