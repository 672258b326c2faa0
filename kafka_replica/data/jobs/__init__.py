"""A data set from files to files: what is to be done, and which engine does it. The commands' part without words."""

from __future__ import annotations

from kafka_replica.data.jobs.engines import Engine, engine
from kafka_replica.data.jobs.job import Job, MappingJob, Outcome, Step, ValidationJob
from kafka_replica.data.jobs.sources import Kind, Source, sources_of

__all__ = ["Engine", "Job", "Kind", "MappingJob", "Outcome", "Source", "Step", "ValidationJob", "engine", "sources_of"]
