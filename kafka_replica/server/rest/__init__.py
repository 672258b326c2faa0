"""SDMX REST queries for structures, as a function of a request and a version, without HTTP library, threads or clock.

The package imports only ``kafka_replica.sdmx``. Read ``grammar`` first: the table of the queries, from which parsing,
rejections and the reference page derive. Then read ``query_parser``, ``matching_artefacts`` and
``answer_query``.

Source: SDMX REST 2.2.2 and 1.5.0, https://github.com/sdmx-twg/sdmx-rest.
"""

from __future__ import annotations

from kafka_replica.server.rest.answer_query import answer, error_answer
from kafka_replica.server.rest.answered_inline import is_quick
from kafka_replica.server.rest.request_and_answer import RestAnswer, RestRequest
from kafka_replica.server.rest.settings import RestSettings
from kafka_replica.server.rest.stored_answer import unparsed_answer

__all__ = ["RestAnswer", "RestRequest", "RestSettings", "answer", "error_answer", "is_quick", "unparsed_answer"]
