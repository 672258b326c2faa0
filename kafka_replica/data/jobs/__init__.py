"""Jobs that read data sets from files and write files: the commands without their options and output texts."""

from __future__ import annotations

from kafka_replica.data.jobs.engines import Engine, engine
from kafka_replica.data.jobs.job import Job, MappingJob, Outcome, ValidationJob
from kafka_replica.data.jobs.named_structure import artefact_of
from kafka_replica.data.jobs.options import ESS, check_findings_path, check_report_path, severities_of
from kafka_replica.data.jobs.progress import Progress, ProgressCallback
from kafka_replica.data.jobs.report_page import report_page
from kafka_replica.data.jobs.sources import Kind, Source, separators_in_words, sources_of

__all__ = [
    "ESS",
    "Engine",
    "Job",
    "Kind",
    "MappingJob",
    "Outcome",
    "Progress",
    "ProgressCallback",
    "Source",
    "ValidationJob",
    "artefact_of",
    "check_findings_path",
    "check_report_path",
    "engine",
    "report_page",
    "separators_in_words",
    "severities_of",
    "sources_of",
]
