"""Processes as SDMX-JSON."""

from __future__ import annotations

from kafka_replica.sdmx.model import (
    Identifiable,
    InputOutput,
    Process,
    ProcessStep,
    Transition,
)
from kafka_replica.sdmx.urn import Urn
from kafka_replica.sdmx.writers.json_parts import Json, obj, urn
from kafka_replica.sdmx.writers.sdmx_json.items import items_of, local
from kafka_replica.sdmx.writers.sdmx_json.values import Edition, annotated, annotations_of, maintained, named, texts


def process(one: Process, edition: Edition) -> Json:
    """Write a process."""
    return obj(maintained(one, edition), processSteps=[_step(each, one.urn, edition) for each in items_of(one.steps)])


def _step(one: ProcessStep, scheme: Urn, edition: Edition) -> Json:
    computation = one.computation
    return obj(
        named(one, edition),
        inputs=[_input_output(each, edition) for each in one.inputs],
        outputs=[_input_output(each, edition) for each in one.outputs],
        computation=None
        if computation is None
        else obj(
            texts("description", "descriptions", computation.descriptions),
            localID=computation.local_id,
            softwarePackage=computation.software_package,
            softwareLanguage=computation.software_language,
            softwareVersion=computation.software_version,
            annotations=annotations_of(computation.annotations, edition),
        ),
        transitions=[_transition(each, scheme, edition) for each in one.transitions],
        processSteps=[_step(each, scheme, edition) for each in one.steps.values()],
    )


def _input_output(one: InputOutput, edition: Edition) -> Json:
    notes = annotations_of(one.annotations, edition)
    return obj(localID=one.local_id, objectReference=urn(one.object_reference), annotations=notes)


def _transition(one: Transition, scheme: Urn, edition: Edition) -> Json:
    own = Identifiable(urn=one.urn or scheme, annotations=one.annotations, links=one.links, uri=one.uri)
    return obj(
        annotated(own, edition),
        texts("condition", "conditions", one.conditions),
        id=None if one.urn is None else own.id,
        localID=one.local_id,
        targetStep=local(scheme, "ProcessStep", one.target_step, edition),
    )
