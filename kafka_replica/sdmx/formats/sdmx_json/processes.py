"""Processes of SDMX-JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from kafka_replica.sdmx.containers import Items, stored_items
from kafka_replica.sdmx.formats.json_shared.items import item_urn, read_items
from kafka_replica.sdmx.formats.json_shared.values import Json, fail, obj, read_reference, write_urn
from kafka_replica.sdmx.formats.sdmx_json.edition import Edition
from kafka_replica.sdmx.formats.sdmx_json.items import item_scheme, local_id, written_id
from kafka_replica.sdmx.formats.sdmx_json.values.reading import Context
from kafka_replica.sdmx.formats.sdmx_json.values.wire import (
    Localised,
    WireAnnotable,
    WireIdentifiable,
    WireMaintainable,
    WireNameable,
)
from kafka_replica.sdmx.formats.sdmx_json.values.writing import (
    write_annotated,
    write_annotations,
    write_maintained,
    write_named,
    write_texts,
)
from kafka_replica.sdmx.model import Computation, Identifiable, InputOutput, Process, ProcessStep, Transition
from kafka_replica.sdmx.urns.urn import Urn


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


def read_process(urn: Urn, wire: WireProcess, context: Context) -> Process:
    """Build a Process."""

    def step(own: Urn, one: WireStep) -> ProcessStep:
        return ProcessStep(
            urn=own,
            inputs=tuple(_read_input_output(own, part, context) for part in one.inputs or ()),
            outputs=tuple(_read_input_output(own, part, context) for part in one.outputs or ()),
            computation=_read_computation(one.computation, context) if one.computation else None,
            transitions=tuple(_read_transition(urn, own, part, context) for part in one.transitions or ()),
            steps=Items(read_items(urn, "ProcessStep", one.process_steps, step, own.item)),
            **context.named(one),
        )

    found = read_items(urn, "ProcessStep", wire.process_steps, step)
    return Process(urn=urn, steps=item_scheme(urn, wire, found), **context.maintained(wire))


def _read_input_output(own: Urn, wire: WireInputOutput, context: Context) -> InputOutput:
    return InputOutput(
        object_reference=read_reference(wire.object_reference, own)
        or fail(own, "an input or output refers to nothing"),
        local_id=wire.local_id,
        annotations=context.annotated(wire).get("annotations", ()),
    )


def _read_computation(wire: WireComputation, context: Context) -> Computation:
    return Computation(
        local_id=wire.local_id,
        software_package=wire.software_package,
        software_language=wire.software_language,
        software_version=wire.software_version,
        descriptions=context.texts(wire.description, wire.descriptions),
        annotations=context.annotated(wire).get("annotations", ()),
    )


def _read_transition(urn: Urn, step: Urn, wire: WireTransition, context: Context) -> Transition:
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


def write_process(process: Process, edition: Edition) -> Json:
    """Write a process."""
    return obj(
        write_maintained(process, edition),
        processSteps=[_write_step(each, process.urn, edition) for each in stored_items(process.steps)],
    )


def _write_step(process_step: ProcessStep, scheme: Urn, edition: Edition) -> Json:
    computation = process_step.computation
    return obj(
        write_named(process_step, edition),
        inputs=[_write_input_output(each, edition) for each in process_step.inputs],
        outputs=[_write_input_output(each, edition) for each in process_step.outputs],
        computation=None
        if computation is None
        else obj(
            write_texts("description", "descriptions", computation.descriptions),
            localID=computation.local_id,
            softwarePackage=computation.software_package,
            softwareLanguage=computation.software_language,
            softwareVersion=computation.software_version,
            annotations=write_annotations(computation.annotations, edition),
        ),
        transitions=[_write_transition(each, scheme, edition) for each in process_step.transitions],
        processSteps=[_write_step(each, scheme, edition) for each in process_step.steps.values()],
    )


def _write_input_output(input_output: InputOutput, edition: Edition) -> Json:
    notes = write_annotations(input_output.annotations, edition)
    return obj(
        localID=input_output.local_id, objectReference=write_urn(input_output.object_reference), annotations=notes
    )


def _write_transition(transition: Transition, scheme: Urn, edition: Edition) -> Json:
    own = Identifiable(
        urn=transition.urn or scheme, annotations=transition.annotations, links=transition.links, uri=transition.uri
    )
    return obj(
        write_annotated(own, edition),
        write_texts("condition", "conditions", transition.conditions),
        id=None if transition.urn is None else own.id,
        localID=transition.local_id,
        targetStep=written_id(scheme, "ProcessStep", transition.target_step, edition),
    )
