"""Processes of SDMX-JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from kafka_replica.sdmx.containers import Items
from kafka_replica.sdmx.formats.json_shared.values import item_urn, reference
from kafka_replica.sdmx.formats.sdmx_json.references import fail, item_scheme, local_id, nested
from kafka_replica.sdmx.formats.sdmx_json.values import Context
from kafka_replica.sdmx.formats.sdmx_json.wire import (
    Localised,
    WireAnnotable,
    WireIdentifiable,
    WireMaintainable,
    WireNameable,
)
from kafka_replica.sdmx.model import Computation, InputOutput, Process, ProcessStep, Transition
from kafka_replica.sdmx.urn import Urn


class WireInputOutput(WireAnnotable, gc=False):
    """An input or output."""

    local_id: str | None = msgspec.field(name="localID", default=None)
    object_reference: str | None = None


class WireComputation(WireAnnotable, gc=False):
    """A computation."""

    local_id: str | None = msgspec.field(name="localID", default=None)
    software_package: str | None = None
    software_language: str | None = None
    software_version: str | None = None
    description: str | None = None
    descriptions: Localised = None


class WireTransition(WireIdentifiable, gc=False):
    """A transition; its target is a URN in 1.0."""

    local_id: str | None = msgspec.field(name="localID", default=None)
    target_step: str | None = None
    condition: str | None = None
    conditions: Localised = None


class WireStep(WireNameable, gc=False):
    """A step."""

    inputs: list[WireInputOutput] | None = None
    outputs: list[WireInputOutput] | None = None
    computation: WireComputation | None = None
    transitions: list[WireTransition] | None = None
    process_steps: list[WireStep] | None = None


class WireProcess(WireMaintainable, gc=False):
    """A process."""

    process_steps: list[WireStep] | None = None


def process(urn: Urn, wire: WireProcess, context: Context) -> Process:
    """Build a Process."""

    def step(own: Urn, one: WireStep) -> ProcessStep:
        return ProcessStep(
            urn=own,
            inputs=tuple(_input_output(own, part, context) for part in one.inputs or ()),
            outputs=tuple(_input_output(own, part, context) for part in one.outputs or ()),
            computation=_computation(one.computation, context) if one.computation else None,
            transitions=tuple(_transition(urn, own, part, context) for part in one.transitions or ()),
            steps=Items(nested(urn, "ProcessStep", one.process_steps, step, own.item)),
            **context.named(one),
        )

    found = nested(urn, "ProcessStep", wire.process_steps, step)
    return Process(urn=urn, steps=item_scheme(urn, wire, found), **context.maintained(wire))


def _input_output(own: Urn, wire: WireInputOutput, context: Context) -> InputOutput:
    return InputOutput(
        object_reference=reference(wire.object_reference, own) or fail(own, "an input or output refers to nothing"),
        local_id=wire.local_id,
        annotations=context.annotated(wire).get("annotations", ()),
    )


def _computation(wire: WireComputation, context: Context) -> Computation:
    return Computation(
        local_id=wire.local_id,
        software_package=wire.software_package,
        software_language=wire.software_language,
        software_version=wire.software_version,
        descriptions=context.texts(wire.description, wire.descriptions),
        annotations=context.annotated(wire).get("annotations", ()),
    )


def _transition(urn: Urn, step: Urn, wire: WireTransition, context: Context) -> Transition:
    if wire.target_step is None:
        fail(step, "a transition has no targetStep")
    arguments: dict[str, Any] = context.annotated(wire)
    return Transition(
        target_step=local_id(wire.target_step),
        conditions=context.texts(wire.condition, wire.conditions),
        local_id=wire.local_id,
        urn=None if wire.id is None else item_urn(urn, "Transition", f"{step.item}.{wire.id}", {}),
        **arguments,
    )
