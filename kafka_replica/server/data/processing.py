"""Validation and mapping of an uploaded file, using the structures of one version."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NamedTuple

from kafka_replica.data.errors import data_errors
from kafka_replica.data.files import usages_of
from kafka_replica.data.jobs import (
    Engine,
    MappingJob,
    Outcome,
    Progress,
    Source,
    ValidationJob,
    artefact_of,
    engine,
    sources_of,
)
from kafka_replica.data.mapping import compile_map, inverse
from kafka_replica.data.validation import Rules, compile_rules
from kafka_replica.errors import UsageError
from kafka_replica.sdmx import Structures
from kafka_replica.server.data.options import DataOptions
from kafka_replica.server.data.xml_names import check_names

FINDINGS: Final = "findings.csv"
"""The name of the file with all findings."""


class ProcessingResult(NamedTuple):
    """The outcome of a job, and the rules by which it read the data."""

    outcome: Outcome
    rules: Rules


def local_engine() -> Engine:
    """Return the engine that processes uploaded data: polars, in this process.

    Raises:
        MissingExtraError: polars is not installed.
    """
    return engine("local")


def validate_file(
    data: Path, options: DataOptions, structures: Structures, out: Path, *, lists: bool = False
) -> ProcessingResult:
    """Validate a file; write ``good.csv`` and ``rejected.csv`` to the folder ``out``.

    If ``lists`` is true, all findings are written to ``findings.csv``.

    Raises:
        KafkaReplicaError: an option is impossible, the structure is missing, or the data cannot be read.
    """
    runs, source = local_engine(), _source(data)
    structure = options.structure or _structure_in(source, options, structures)
    rules = compile_rules(
        structures, structure, rules=options.rules, action=options.action, as_of=options.as_of,
        allow_missing=options.allow_missing,
    )  # fmt: skip
    usages = usages_of(structures, rules)
    job = ValidationJob(
        sources=(source,), rules=rules, usages=usages, out=out, **_listed(out, lists=lists), **options.job_arguments
    )
    with data_errors():
        return ProcessingResult(runs.validate(job, _ignore), rules)


def map_file(
    data: Path, options: DataOptions, structures: Structures, out: Path, *, lists: bool = False
) -> ProcessingResult:
    """Map a file; write mapped rows to ``good.csv`` and the original rejected rows to ``rejected.csv`` in ``out``.

    If ``lists`` is true, all findings are written to ``findings.csv``.

    Raises:
        KafkaReplicaError: an option is impossible, the map is missing or unusable, or the data cannot be read.
    """
    if options.map is None:
        raise UsageError("name the structure map: map=URN, or map=AGENCY:ID(VERSION)")
    runs, source = local_engine(), _source(data)
    plan = compile_map(structures, options.map, rules=options.rules)
    plan = inverse(plan) if options.reverse else plan
    rules, target = (compile_rules(structures, side.urn) for side in (plan.source, plan.target))
    usages = usages_of(structures, rules)
    job = MappingJob(
        sources=(source,),
        rules=rules,
        usages=usages,
        plan=plan,
        target=target,
        out=out,
        **_listed(out, lists=lists),
        **options.job_arguments,
    )
    with data_errors():
        return ProcessingResult(runs.map(job, _ignore), rules)


def _listed(out: Path, *, lists: bool) -> dict[str, Any]:
    return {"findings": out / FINDINGS} if lists else {}


def _source(data: Path) -> Source:
    (source,) = sources_of([str(data)])
    if data.suffix == ".xml":
        check_names(data)
    return source


def _structure_in(source: Source, options: DataOptions, structures: Structures) -> str:
    """Return the URN of the structure that the data names, with its reference resolved to a version."""
    if source.kind == "csv":
        raise UsageError("plain CSV names no structure; give it: structure=URN, or structure=AGENCY:ID(VERSION)")
    return str(structures.get(artefact_of(source, options.encoding)).urn)


def _ignore(_progress: Progress) -> None:
    """Do nothing, because requests do not show progress."""
