"""Processes of SDMX-ML."""

from __future__ import annotations

from lxml import etree

from kafka_replica.sdmx.containers import NO_TEXT
from kafka_replica.sdmx.formats.ml.maps import read_notes
from kafka_replica.sdmx.formats.ml.reading.child_elements import (
    first,
    international,
    known,
    nested,
    pick,
    ref,
    scheme_items,
)
from kafka_replica.sdmx.formats.ml.reading.items import item_urn
from kafka_replica.sdmx.formats.ml.reading.tree import Names, fail
from kafka_replica.sdmx.formats.ml.reading.values import Item, local_id, named
from kafka_replica.sdmx.formats.ml.writing.edition import Edition
from kafka_replica.sdmx.formats.ml.writing.values import artefact, item, links, write_annotations, write_texts
from kafka_replica.sdmx.formats.ml.writing.xml import el
from kafka_replica.sdmx.model import Computation, InputOutput, Process, ProcessStep, Transition

# Reading


def read_process(item: Item) -> Process:
    """Read a <Process>."""
    urn, base, rest, names = item.parts
    return Process(
        urn=urn, steps=scheme_items(urn, base, "ProcessStep", pick(rest, "ProcessStep"), names, _read_step), **base
    )


def _read_step(item: Item) -> ProcessStep:
    computation = first(item.rest, "Computation")
    return ProcessStep(
        urn=item.urn,
        inputs=tuple(_read_input_output(input_, item.names) for input_ in pick(item.rest, "Input")),
        outputs=tuple(_read_input_output(output, item.names) for output in pick(item.rest, "Output")),
        computation=None if computation is None else _read_computation(computation, item.names),
        transitions=tuple(_read_transition(transition, item) for transition in pick(item.rest, "Transition")),
        steps=nested(item, "ProcessStep", _read_step),
        **item.arguments,
    )


def _read_input_output(element: etree._Element, names: Names) -> InputOutput:
    found = ref(known(element, names), "ObjectReference", names, "Dataflow")
    if found is None:
        fail(element, "it has no ObjectReference")
    return InputOutput(object_reference=found, local_id=element.get("localID"), annotations=read_notes(element, names))


def _read_computation(element: etree._Element, names: Names) -> Computation:
    arguments, _ = named(element, names)
    return Computation(
        local_id=element.get("localID"),
        software_package=element.get("softwarePackage"),
        software_language=element.get("softwareLanguage"),
        software_version=element.get("softwareVersion"),
        descriptions=arguments.get("descriptions", NO_TEXT),
        annotations=arguments.get("annotations", ()),
    )


def _read_transition(element: etree._Element, step: Item) -> Transition:
    id_, names = element.get("id"), step.names
    urn = None if id_ is None else item_urn(step.urn, "Transition", element, f"{step.urn.item}.{id_}")
    one = Item(element, step.urn, names)
    target = first(one.rest, "TargetStep")
    if target is None:
        fail(element, "it has no TargetStep")
    return Transition(
        target_step=local_id(target, names),
        conditions=international(one.rest, "Condition"),
        local_id=element.get("localID"),
        urn=urn,
        **one.identified,
    )


# Writing


def write_process(process: Process, edition: Edition) -> str:
    """Write a <Process>."""
    found = [] if process.steps.is_stub else process.steps.values()
    return artefact("str:Process", process, edition, [_write_step(each, edition) for each in found])


def _write_step(process_step: ProcessStep, edition: Edition) -> str:
    return item(
        "str:ProcessStep",
        process_step,
        edition,
        *[_write_input_output("str:Input", each, edition) for each in process_step.inputs],
        *[_write_input_output("str:Output", each, edition) for each in process_step.outputs],
        "" if process_step.computation is None else _write_computation(process_step.computation, edition),
        *[_write_transition(each, edition) for each in process_step.transitions],
        *[_write_step(each, edition) for each in process_step.steps.values()],
    )


def _write_input_output(tag: str, input_output: InputOutput, edition: Edition) -> str:
    reference = edition.ref("str:ObjectReference", input_output.object_reference)
    return el(tag, write_annotations(input_output.annotations, edition), reference, localID=input_output.local_id)


def _write_computation(computation: Computation, edition: Edition) -> str:
    return el(
        "str:Computation",
        write_annotations(computation.annotations, edition),
        write_texts("com:Description", computation.descriptions),
        localID=computation.local_id,
        softwarePackage=computation.software_package,
        softwareLanguage=computation.software_language,
        softwareVersion=computation.software_version,
    )


def _write_transition(transition: Transition, edition: Edition) -> str:
    own = {} if transition.urn is None or transition.urn.item is None else {
        "id": transition.urn.item.rpartition(".")[2], "urn": str(transition.urn),
    }  # fmt: skip
    return el(
        "str:Transition",
        write_annotations(transition.annotations, edition),
        links(transition.links, edition),
        edition.local("str:TargetStep", transition.target_step),
        write_texts("str:Condition", transition.conditions),
        localID=transition.local_id,
        uri=transition.uri,
        **own,
    )
