"""Answers of the SDMX REST API that the server sends without calling the app, because they are known already.

Passing a request through the layers of the app takes a task, a turn of the event loop and a coroutine for each layer:
several times as long as finding the answer. The client gets the bytes that it would get from the app.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from starlette.exceptions import HTTPException
from starlette.types import Scope

from kafka_replica.metrics.server import RequestMetrics
from kafka_replica.server.access.gate import RequestChecks
from kafka_replica.server.answers.finished_answer import FinishedResponse, SendKnown
from kafka_replica.server.operation.observation import log_request, protected, request_id_of
from kafka_replica.server.routes.direct import ApiPaths
from kafka_replica.server.routes.sdmx import SdmxRoutes

_log = logging.getLogger("kafka_replica.server")


class KnownAnswers:
    """Finds, sends and counts known answers; all others, all refusals and all errors are left to the app.

    The app must answer with this library's function, whose headers need no further check, and not to other origins.

    Args:
        checks: rejects requests.
        routes: the endpoints, which know answers.
        base_paths: the paths below which the API answers.
        metrics: counts requests.
    """

    def __init__(
        self, checks: RequestChecks, routes: SdmxRoutes, base_paths: Sequence[str], metrics: RequestMetrics
    ) -> None:
        self._checks = checks
        self._routes = routes
        self._paths = ApiPaths(base_paths)
        self._metrics = metrics

    def __call__(self, scope: Scope, send: SendKnown) -> bool:
        """Send the answer to a request if it is known; return whether it was sent."""
        began_s = time.perf_counter()
        try:
            found = self._find(scope)
        except HTTPException:
            return False  # the app finds the same, and answers in the form that the client expects
        except Exception:  # noqa: BLE001 - the app finds the same, and logs it
            _log.debug("request %s: no known answer could be looked for", request_id_of(scope), exc_info=True)
            return False
        if found is None:
            return False
        send(found)
        try:
            self._count(scope, found, time.perf_counter() - began_s)
        except Exception:  # noqa: BLE001 - the client has its answer
            _log.exception("request %s was answered, but counting it failed", request_id_of(scope))
        return True

    def _find(self, scope: Scope) -> FinishedResponse | None:
        path = self._paths.path_of(scope)
        if path is None:
            return None
        self._checks.check(scope, scope["path"])
        found = self._routes.known(scope, path)
        if found is not None:
            found.raw_headers = protected(found.raw_headers, request_id_of(scope))
            if scope["method"] == "HEAD":
                found.body = b""
        return found

    def _count(self, scope: Scope, answer: FinishedResponse, duration_s: float) -> None:
        status, bytes_sent = answer.status_code, len(answer.body)
        self._metrics.counted(self._routes.sdmx.__name__, scope["method"], status, duration_s, bytes_sent)
        log_request(scope, status, bytes_sent, duration_s)
