"""Conversion of problem details to SDMX error messages, for clients of the SDMX REST API.

Source: SDMX REST 1.5.0, docs/4_7_errors.md ("SDMX to HTTP Error Mapping").
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from starlette.types import Scope

from kafka_replica.server.errors.problem_forms import Form, accepted
from kafka_replica.server.errors.problems import names_problem
from kafka_replica.server.rest import RestRequest, error_answer
from kafka_replica.server.rest.rejections import Rejection

_CODES: Final = {
    400: 140, 401: 110, 403: 150, 404: 100, 405: 140, 406: 150, 413: 510, 414: 140, 431: 140, 500: 500, 501: 501,
    503: 503,
}  # fmt: skip
"""The SDMX error codes by HTTP status."""
_SEMANTIC: Final = 150
_version: Final = re.compile(r"/version/[^/]+(?=/)").match
_APIS: Final = ("v1", "v2")


class SdmxErrors:
    """Converts problem details to SDMX error messages for requests below the base paths of the SDMX REST API.

    Args:
        base_paths: the base paths of the API.
    """

    def __init__(self, base_paths: Iterable[str]) -> None:
        self._prefixes = tuple(f"{path}/" for path in sorted(base_paths, key=len, reverse=True))

    def form(self, scope: Scope, problem: dict[str, Any]) -> Form | None:
        """Return the error message; None if the path is not of the API, or ``Accept`` names problem details."""
        path, accept = scope["path"].removeprefix(scope.get("root_path", "")), accepted(scope)
        pinned = _version(path)
        path = path if pinned is None else path[pinned.end() :]
        path = path if path.endswith("/") else f"{path}/"  # a base path alone is of the API, too
        prefix = next((prefix for prefix in self._prefixes if path.startswith(prefix)), None)
        if prefix is None or names_problem(accept):
            return None
        rest, api = path.removeprefix(prefix), prefix.rstrip("/").rpartition("/")[2]
        query = scope["query_string"].decode("latin-1")
        request = RestRequest(f"{api}/{rest}" if api in _APIS else rest, query, accept)
        rejection = Rejection(problem["status"], _CODES.get(problem["status"], _SEMANTIC), problem["detail"])
        made = error_answer(rejection, request)
        return Form(dict(made.headers)["Content-Type"], made.body)
