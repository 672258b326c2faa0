"""The rules for data, compiled from the structures of one version, for any engine.

::

    rules = compile_rules(Structures(snapshot), "KR_DEMO:LABOUR(1.0)")
    rules.checks[0].broken  # a condition, as a tree

:mod:`kafka_replica.data.polars` runs rules on polars, :mod:`kafka_replica_spark` on Spark; both give the same findings.
"""

from __future__ import annotations

from kafka_replica.data.validation.catalogue import CATALOGUE, RuleInfo
from kafka_replica.data.validation.compiler import compile_rules
from kafka_replica.data.validation.generate import generate_rows
from kafka_replica.data.validation.model import ERRORS, Check, Column, Finding, KeyCheck, LevelCheck, Rules
from kafka_replica.data.validation.report import Report, Sample

__all__ = [
    "CATALOGUE",
    "ERRORS",
    "Check",
    "Column",
    "Finding",
    "KeyCheck",
    "LevelCheck",
    "Report",
    "RuleInfo",
    "Rules",
    "Sample",
    "compile_rules",
    "generate_rows",
]
