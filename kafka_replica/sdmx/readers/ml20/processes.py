"""Processes of SDMX-ML 2.0."""

from __future__ import annotations

from typing import Any

from lxml import etree

from kafka_replica.sdmx.earlier import ProcessStepOfClasses
from kafka_replica.sdmx.formats.ml.reading.parts import international, known, nested, pick, scheme_items, texts
from kafka_replica.sdmx.formats.ml.reading.values import Item
from kafka_replica.sdmx.model import Computation, Process, ProcessStep, Transition
from kafka_replica.sdmx.readers.ml20.edition import Source
from kafka_replica.sdmx.readers.ml20.references import parts_of
from kafka_replica.sdmx.readers.ml20.values import maintained
from kafka_replica.sdmx.urn import Urn


def process(urn: Urn, elements: list[etree._Element], source: Source) -> Process:
    """Read a <Process>."""
    base, rest = maintained(elements[0], source)

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
            transitions=tuple(_transition(element, source) for element in pick(item.rest, "Transition")),
            steps=nested(item, "ProcessStep", make),
            **item.arguments,
            **more,
        )

    steps = scheme_items(urn, base, "ProcessStep", pick(rest, "ProcessStep"), source.names, make)
    return Process(urn=urn, steps=steps, **base)


def _transition(element: etree._Element, source: Source) -> Transition:
    return Transition(
        target_step=parts_of(element, source).get("TargetStep", ""),
        conditions=international(known(element, source.names), "Condition"),
    )
