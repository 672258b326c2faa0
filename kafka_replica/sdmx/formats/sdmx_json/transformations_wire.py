"""The structs of VTL schemes in SDMX-JSON: one for all kinds of schemes, one for all kinds of items."""

from __future__ import annotations

from typing import Any

from kafka_replica.sdmx.formats.sdmx_json.wire import Wire, WireMaintainable, WireNameable


class WireSpace(Wire, gc=False):
    """Dimensions."""

    keys: list[str] | None = None


class WireMethod(Wire, gc=False):
    """The method of mapping to or from VTL."""

    method: str | None = None
    to_vtl_sub_space: WireSpace | None = None
    from_vtl_super_space: WireSpace | None = None


class WireVtlItem(WireNameable, gc=False):
    """An item of any of the schemes."""

    expression: str | None = None
    result: str | None = None
    is_persistent: bool | None = None
    ruleset_definition: str | None = None
    ruleset_type: str | None = None
    ruleset_scope: str | None = None
    operator_definition: str | None = None
    vtl_scalar_type: str | None = None
    data_type: str | None = None
    vtl_literal_format: str | None = None
    output_format: str | None = None
    null_value: str | None = None
    vtl_artefact: str | None = None
    vtl_default_name: str | None = None
    personalised_name: str | None = None
    alias: str | None = None
    dataflow: str | None = None
    generic_dataflow: dict[str, Any] | None = None
    codelist: str | None = None
    concept: str | None = None
    to_vtl_mapping: WireMethod | None = None
    from_vtl_mapping: WireMethod | None = None


class WireVtlScheme(WireMaintainable, gc=False):
    """A scheme of any kind."""

    vtl_version: str | None = None
    vtl_mapping_scheme: str | None = None
    name_personalisation_scheme: str | None = None
    custom_type_scheme: str | None = None
    ruleset_schemes: list[str] | None = None
    user_defined_operator_schemes: list[str] | None = None
    transformations: list[WireVtlItem] | None = None
    rulesets: list[WireVtlItem] | None = None
    user_defined_operators: list[WireVtlItem] | None = None
    custom_types: list[WireVtlItem] | None = None
    name_personalisations: list[WireVtlItem] | None = None
    vtl_mappings: list[WireVtlItem] | None = None
