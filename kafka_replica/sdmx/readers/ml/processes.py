"""Processes of SDMX-ML."""

from __future__ import annotations

from lxml import etree

from kafka_replica.sdmx.containers import NO_TEXT
from kafka_replica.sdmx.model import Computation, InputOutput, Process, ProcessStep, Transition
from kafka_replica.sdmx.readers.ml.items import item_urn
from kafka_replica.sdmx.readers.ml.mappings import notes
from kafka_replica.sdmx.readers.ml.parts import first, international, known, nested, pick, ref, scheme_items
from kafka_replica.sdmx.readers.ml.tree import Names, fail
from kafka_replica.sdmx.readers.ml.values import Item, local_id, named


def process(item: Item) -> Process:
    """Read a <Process>."""
    urn, base, rest, names = item.parts
    return Process(
        urn=urn, steps=scheme_items(urn, base, "ProcessStep", pick(rest, "ProcessStep"), names, _step), **base
    )


def _step(item: Item) -> ProcessStep:
    computation = first(item.rest, "Computation")
    return ProcessStep(
        urn=item.urn,
        inputs=tuple(_input_output(one, item.names) for one in pick(item.rest, "Input")),
        outputs=tuple(_input_output(one, item.names) for one in pick(item.rest, "Output")),
        computation=None if computation is None else _computation(computation, item.names),
        transitions=tuple(_transition(one, item) for one in pick(item.rest, "Transition")),
        steps=nested(item, "ProcessStep", _step),
        **item.arguments,
    )


def _input_output(element: etree._Element, names: Names) -> InputOutput:
    found = ref(known(element, names), "ObjectReference", names, "Dataflow")
    if found is None:
        fail(element, "it has no ObjectReference")
    return InputOutput(object_reference=found, local_id=element.get("localID"), annotations=notes(element, names))


def _computation(element: etree._Element, names: Names) -> Computation:
    arguments, _ = named(element, names)
    return Computation(
        local_id=element.get("localID"),
        software_package=element.get("softwarePackage"),
        software_language=element.get("softwareLanguage"),
        software_version=element.get("softwareVersion"),
        descriptions=arguments.get("descriptions", NO_TEXT),
        annotations=arguments.get("annotations", ()),
    )


def _transition(element: etree._Element, step: Item) -> Transition:
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
