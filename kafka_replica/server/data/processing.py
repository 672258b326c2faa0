"""Validation and mapping of an uploaded file with the structures of one version."""

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
"""The file with all findings."""


class ProcessingResult(NamedTuple):
    """The outcome of a job, and the rules of the data that it read."""

    outcome: Outcome
    rules: Rules


def the_engine() -> Engine:
    """Return the engine that processes uploaded data: polars, in this process.

    Raises:
        MissingExtraError: polars is not installed.
    """
    return engine("local")


def validate_file(
    data: Path, options: DataOptions, structures: Structures, out: Path, *, lists: bool = False
) -> ProcessingResult:
    """Validate a file; write ``good.csv`` and ``rejected.csv`` to a folder, and all findings if ``lists`` is true.

    Raises:
        KafkaReplicaError: an option is impossible, the structure is missing, or the data cannot be read.
    """
    runs, source = the_engine(), _source(data)
    structure = options.structure or _structure_in(source, options, structures)
    rules = compile_rules(
        structures, structure, rules=options.rules, action=options.action, as_of=options.as_of,
        allow_missing=options.allow_missing,
    )  # fmt: skip
    usages = usages_of(structures, rules)
    job = ValidationJob(
        sources=(source,), rules=rules, usages=usages, out=out, **_listed(out, lists=lists), **options.of_jobs
    )
    with data_errors():
        return ProcessingResult(runs.validate(job, _ignore), rules)


def map_file(
    data: Path, options: DataOptions, structures: Structures, out: Path, *, lists: bool = False
) -> ProcessingResult:
    """Map a file; write the mapped rows to ``good.csv`` in a folder, and unchanged rejected rows to ``rejected.csv``.

    If ``lists`` is true, all findings are written, too.

    Raises:
        KafkaReplicaError: an option is impossible, the map is missing or unusable, or the data cannot be read.
    """
    if options.map is None:
        raise UsageError("name the structure map: map=URN, or map=AGENCY:ID(VERSION)")
    runs, source = the_engine(), _source(data)
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
        **options.of_jobs,
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
    """Return the structure that the data names, with the version that its reference means here."""
    if source.kind == "csv":
        raise UsageError("plain CSV names no structure; give it: structure=URN, or structure=AGENCY:ID(VERSION)")
    return str(structures.get(artefact_of(source, options.encoding)).urn)


def _ignore(_progress: Progress) -> None:
    """Do nothing; a request shows no steps."""
