"""The classes of VTL schemes, whose members have the same names in SDMX-JSON and Fusion-JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from kafka_replica.sdmx.containers import stored_items
from kafka_replica.sdmx.formats.json_shared.values import (
    Json,
    obj,
    read_reference,
    read_references,
    write_urn,
    write_urns,
)
from kafka_replica.sdmx.model import (
    CustomType,
    CustomTypeScheme,
    NamePersonalisation,
    NamePersonalisationScheme,
    Ruleset,
    RulesetScheme,
    Transformation,
    TransformationScheme,
    UserDefinedOperator,
    UserDefinedOperatorScheme,
    VtlDefinitionScheme,
)
from kafka_replica.sdmx.urns.urn import Urn


class SchemeClass(NamedTuple):
    """A class of schemes: its list of items, their class and fields, and the schemes it refers to, one or several."""

    scheme: type[VtlDefinitionScheme]
    items: str
    item: type[Any]
    fields: tuple[str, ...]
    single: tuple[str, ...] = ()
    several: tuple[str, ...] = ()

    def read_item(self, urn: Urn, wire: Any, named: dict[str, Any]) -> Any:
        """Build an item from its struct, whose fields have the names of the model, and its names."""
        arguments = {name: getattr(wire, name) for name in self.fields}
        if self.item is Transformation:
            arguments["is_persistent"] = bool(wire.is_persistent)
        return self.item(urn=urn, **arguments, **named)

    def read_schemes(self, urn: Urn, wire: Any) -> dict[str, Any]:
        """Return the references to other schemes as arguments. Raises MessageError."""
        found: dict[str, Any] = {name: read_reference(getattr(wire, name), urn) for name in self.single}
        return found | {name: read_references(getattr(wire, name), urn) for name in self.several}

    def write_items(self, vtl_definition_scheme: VtlDefinitionScheme, write_named: Callable[[Any], Json]) -> list[Json]:
        """Write the items."""
        return [
            obj(write_named(each), {camel(name): getattr(each, name) for name in self.fields})
            for each in stored_items(vtl_definition_scheme.items)
        ]

    def write_schemes(self, vtl_definition_scheme: VtlDefinitionScheme) -> Json:
        """Write the references to other schemes."""
        found: Json = {camel(name): write_urn(getattr(vtl_definition_scheme, name)) for name in self.single}
        return found | {camel(name): write_urns(getattr(vtl_definition_scheme, name)) for name in self.several}


def camel(name: str) -> str:
    """Return the name of a member in JSON: vtl_version -> vtlVersion."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


SCHEME_CLASSES: Final = {
    class_.scheme.__name__: class_
    for class_ in (
        SchemeClass(
            TransformationScheme,
            "transformations",
            Transformation,
            ("expression", "result", "is_persistent"),
            ("vtl_mapping_scheme", "name_personalisation_scheme", "custom_type_scheme"),
            ("ruleset_schemes", "user_defined_operator_schemes"),
        ),
        SchemeClass(
            RulesetScheme,
            "rulesets",
            Ruleset,
            ("ruleset_definition", "ruleset_type", "ruleset_scope"),
            ("vtl_mapping_scheme",),
        ),
        SchemeClass(
            UserDefinedOperatorScheme,
            "user_defined_operators",
            UserDefinedOperator,
            ("operator_definition",),
            ("vtl_mapping_scheme",),
            ("ruleset_schemes",),
        ),
        SchemeClass(
            CustomTypeScheme,
            "custom_types",
            CustomType,
            ("vtl_scalar_type", "data_type", "vtl_literal_format", "output_format", "null_value"),
        ),
        SchemeClass(
            NamePersonalisationScheme,
            "name_personalisations",
            NamePersonalisation,
            ("vtl_artefact", "vtl_default_name", "personalised_name"),
        ),
    )
}
