"""Processes of SDMX-ML."""

from __future__ import annotations

from lxml import etree

from kafka_replica.sdmx.containers import NO_TEXT
from kafka_replica.sdmx.formats.ml.maps import read_notes
from kafka_replica.sdmx.formats.ml.reading.items import item_urn
from kafka_replica.sdmx.formats.ml.reading.parts import first, international, known, nested, pick, ref, scheme_items
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
        inputs=tuple(_read_input_output(one, item.names) for one in pick(item.rest, "Input")),
        outputs=tuple(_read_input_output(one, item.names) for one in pick(item.rest, "Output")),
        computation=None if computation is None else _read_computation(computation, item.names),
        transitions=tuple(_read_transition(one, item) for one in pick(item.rest, "Transition")),
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


def write_process(one: Process, edition: Edition) -> str:
    """Write a <Process>."""
    found = [] if one.steps.is_stub else one.steps.values()
    return artefact("str:Process", one, edition, [_write_step(each, edition) for each in found])


def _write_step(one: ProcessStep, edition: Edition) -> str:
    return item(
        "str:ProcessStep",
        one,
        edition,
        *[_write_input_output("str:Input", each, edition) for each in one.inputs],
        *[_write_input_output("str:Output", each, edition) for each in one.outputs],
        "" if one.computation is None else _write_computation(one.computation, edition),
        *[_write_transition(each, edition) for each in one.transitions],
        *[_write_step(each, edition) for each in one.steps.values()],
    )


def _write_input_output(tag: str, one: InputOutput, edition: Edition) -> str:
    reference = edition.ref("str:ObjectReference", one.object_reference)
    return el(tag, write_annotations(one.annotations, edition), reference, localID=one.local_id)


def _write_computation(one: Computation, edition: Edition) -> str:
    return el(
        "str:Computation",
        write_annotations(one.annotations, edition),
        write_texts("com:Description", one.descriptions),
        localID=one.local_id,
        softwarePackage=one.software_package,
        softwareLanguage=one.software_language,
        softwareVersion=one.software_version,
    )


def _write_transition(one: Transition, edition: Edition) -> str:
    own = {} if one.urn is None or one.urn.item is None else {
        "id": one.urn.item.rpartition(".")[2], "urn": str(one.urn),
    }  # fmt: skip
    return el(
        "str:Transition",
        write_annotations(one.annotations, edition),
        links(one.links, edition),
        edition.local("str:TargetStep", one.target_step),
        write_texts("str:Condition", one.conditions),
        localID=one.local_id,
        uri=one.uri,
        **own,
    )
