"""Processes of SDMX-ML 2.0."""

from __future__ import annotations

from typing import Any

from lxml import etree

from kafka_replica.sdmx.formats.ml.reading.child_elements import international, known, nested, pick, scheme_items, texts
from kafka_replica.sdmx.formats.ml.reading.values import Item
from kafka_replica.sdmx.formats.ml.writing.values import write_texts
from kafka_replica.sdmx.formats.ml.writing.xml import el, leaf
from kafka_replica.sdmx.formats.ml20.reading.message_context import MessageContext
from kafka_replica.sdmx.formats.ml20.reading.references import parts_of
from kafka_replica.sdmx.formats.ml20.reading.values import read_maintained
from kafka_replica.sdmx.formats.ml20.writing.values import Edition, write_annotations, write_maintained
from kafka_replica.sdmx.model import Computation, Process, ProcessStep, Transition
from kafka_replica.sdmx.model.earlier_editions import ProcessStepOfClasses
from kafka_replica.sdmx.urns.urn import Urn

# Reading


def read_process(urn: Urn, elements: list[etree._Element], context: MessageContext) -> Process:
    """Read a <Process>."""
    base, rest = read_maintained(elements[0], context)

    def make(item: Item) -> ProcessStep:
        computation = international(item.rest, "Computation")
        classes: dict[str, Any] = {
            "input_classes": texts(item.rest, "Input"),
            "output_classes": texts(item.rest, "Output"),
        }
        more = classes if any(classes.values()) else {}
        return (ProcessStepOfClasses if more else ProcessStep)(
            urn=item.urn,
            computation=Computation(descriptions=computation) if computation else None,
            transitions=tuple(_read_transition(element, context) for element in pick(item.rest, "Transition")),
            steps=nested(item, "ProcessStep", make),
            **item.arguments,
            **more,
        )

    steps = scheme_items(urn, base, "ProcessStep", pick(rest, "ProcessStep"), context.names, make)
    return Process(urn=urn, steps=steps, **base)


def _read_transition(element: etree._Element, context: MessageContext) -> Transition:
    return Transition(
        target_step=parts_of(element, context).get("TargetStep", ""),
        conditions=international(known(element, context.names), "Condition"),
    )


# Writing


def write_process(process: Process, edition: Edition) -> str:
    """Write a <Process>, whose inputs and outputs are classes, not objects."""
    found = [] if process.steps.is_stub else process.steps.values()
    return write_maintained("str:Process", process, edition, *[_step(each) for each in found])


def _step(process_step: ProcessStep) -> str:
    inputs, outputs = (
        (process_step.input_classes, process_step.output_classes)
        if isinstance(process_step, ProcessStepOfClasses)
        else ((), ())
    )
    return el(
        "str:ProcessStep",
        write_texts("str:Name", process_step.names),
        write_texts("str:Description", process_step.descriptions),
        *[leaf("str:Input", each) for each in inputs],
        *[leaf("str:Output", each) for each in outputs],
        ""
        if process_step.computation is None
        else write_texts("str:Computation", process_step.computation.descriptions),
        *[_write_transition(each) for each in process_step.transitions],
        *[_step(each) for each in process_step.steps.values()],
        write_annotations(process_step.annotations),
        id=process_step.id,
    )


def _write_transition(transition: Transition) -> str:
    return el(
        "str:Transition",
        leaf("str:TargetStep", transition.target_step),
        write_texts("str:Condition", transition.conditions),
    )
