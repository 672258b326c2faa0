"""SDMX REST queries for structures: a request and one version in, an answer out. No HTTP library, thread or clock.

Imports ``kafka_replica.sdmx`` only. Read ``grammar`` first: the table of the queries, from which parsing, rejections
and the reference page derive. Then ``parsing``, ``selection`` (which artefacts), ``answering`` (the answer).

Source: SDMX REST 2.2.2 and 1.5.0, https://github.com/sdmx-twg/sdmx-rest.
"""

from __future__ import annotations

from kafka_replica.server.rest.answering import answer, error_answer
from kafka_replica.server.rest.messages import RestAnswer, RestRequest
from kafka_replica.server.rest.quick import is_quick
from kafka_replica.server.rest.settings import RestSettings

__all__ = ["RestAnswer", "RestRequest", "RestSettings", "answer", "error_answer", "is_quick"]
