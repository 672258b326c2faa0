"""Processes as SDMX-ML."""

from __future__ import annotations

from kafka_replica.sdmx.model import Computation, InputOutput, Process, ProcessStep, Transition
from kafka_replica.sdmx.writers.ml.edition import Edition
from kafka_replica.sdmx.writers.ml.values import annotations_of, artefact, item, links, texts
from kafka_replica.sdmx.writers.ml.xml import el


def process(one: Process, edition: Edition) -> str:
    """Write a <Process>."""
    found = [] if one.steps.is_stub else one.steps.values()
    return artefact("str:Process", one, edition, [_step(each, edition) for each in found])


def _step(one: ProcessStep, edition: Edition) -> str:
    return item(
        "str:ProcessStep",
        one,
        edition,
        *[_input_output("str:Input", each, edition) for each in one.inputs],
        *[_input_output("str:Output", each, edition) for each in one.outputs],
        "" if one.computation is None else _computation(one.computation, edition),
        *[_transition(each, edition) for each in one.transitions],
        *[_step(each, edition) for each in one.steps.values()],
    )


def _input_output(tag: str, one: InputOutput, edition: Edition) -> str:
    reference = edition.ref("str:ObjectReference", one.object_reference)
    return el(tag, annotations_of(one.annotations, edition), reference, localID=one.local_id)


def _computation(one: Computation, edition: Edition) -> str:
    return el(
        "str:Computation",
        annotations_of(one.annotations, edition),
        texts("com:Description", one.descriptions),
        localID=one.local_id,
        softwarePackage=one.software_package,
        softwareLanguage=one.software_language,
        softwareVersion=one.software_version,
    )


def _transition(one: Transition, edition: Edition) -> str:
    own = {} if one.urn is None or one.urn.item is None else {
        "id": one.urn.item.rpartition(".")[2], "urn": str(one.urn),
    }  # fmt: skip
    return el(
        "str:Transition",
        annotations_of(one.annotations, edition),
        links(one.links, edition),
        edition.local("str:TargetStep", one.target_step),
        texts("str:Condition", one.conditions),
        localID=one.local_id,
        uri=one.uri,
        **own,
    )
