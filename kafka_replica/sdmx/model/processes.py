"""Processes. Source: SDMX 3.1 Section 2, "Process"; SDMXStructureProcess.xsd."""

from __future__ import annotations

from typing import ClassVar

from kafka_replica.sdmx.containers import NO_ITEMS, NO_TEXT, InternationalString, Items
from kafka_replica.sdmx.model.base import Annotation, ItemScheme, Link, Nameable
from kafka_replica.sdmx.model.value_object import ValueObject
from kafka_replica.sdmx.urns.urn import Urn


class InputOutput(ValueObject, frozen=True, gc=False, kw_only=True):
    """An input or an output of a step (class ProcessArtefact)."""

    object_reference: Urn
    local_id: str | None = None
    annotations: tuple[Annotation, ...] = ()


class Computation(ValueObject, frozen=True, gc=False, kw_only=True):
    """The computation of a step, and its software."""

    local_id: str | None = None
    software_package: str | None = None
    software_language: str | None = None
    software_version: str | None = None
    descriptions: InternationalString = NO_TEXT
    annotations: tuple[Annotation, ...] = ()


class Transition(ValueObject, frozen=True, gc=False, kw_only=True):
    """The next step (its path), and the condition. ``urn`` is None without an id, which the standard allows."""

    target_step: str
    conditions: InternationalString = NO_TEXT
    local_id: str | None = None
    urn: Urn | None = None
    annotations: tuple[Annotation, ...] = ()
    links: tuple[Link, ...] = ()
    uri: str | None = None


class ProcessStep(Nameable, frozen=True, gc=False, kw_only=True):
    """A step and the steps below it; its URN has the whole path."""

    inputs: tuple[InputOutput, ...] = ()
    outputs: tuple[InputOutput, ...] = ()
    computation: Computation | None = None
    transitions: tuple[Transition, ...] = ()
    steps: Items[ProcessStep] = NO_ITEMS


class Process(ItemScheme, frozen=True, gc=False, kw_only=True):
    """A process: its steps of the first level by id; each step holds the steps below it."""

    items_field: ClassVar[str] = "steps"
    children_field: ClassVar[str] = "steps"

    steps: Items[ProcessStep]
