"""The routes of the SDMX REST API: each answer is computed in a thread, from one version."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeAlias
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

from kafka_replica.sdmx import Structures
from kafka_replica.server.compression import accepts_gzip, compress, is_worth_compressing
from kafka_replica.server.entity_tags import suffix_of, with_suffix, without_suffix
from kafka_replica.server.problems import Problem, busy
from kafka_replica.server.rest.messages import RestAnswer, RestRequest
from kafka_replica.server.settings import ServerSettings
from kafka_replica.server.versions import ServedVersion, VersionId, Versions

Answer: TypeAlias = Callable[[RestRequest, Structures], RestAnswer]
"""A function that answers a request from one version; thread-safe."""


class SdmxRoutes:
    """The endpoints of the SDMX REST API.

    Args:
        versions: the versions to answer from.
        answer: computes answers.
        settings: the limits.
        executor: runs the computation; its threads bound the number of running computations.
        release: the release of this library, on which the form of answers depends.
    """

    def __init__(
        self, versions: Versions, answer: Answer, settings: ServerSettings, executor: Executor, release: str
    ) -> None:
        self._versions = versions
        self._answer = answer
        self._settings = settings
        self._executor = executor
        self._release = release

    async def sdmx(self, request: Request) -> Response:
        """Answer from the current version."""
        return await self._respond(request, None)

    async def pinned_sdmx(self, request: Request) -> Response:
        """Answer from the version in the path."""
        wanted = VersionId.parse(request.path_params["version"])
        if wanted is None:
            raise Problem(404, "a pinned path names a version: /version/17/... or /version/17.INCARNATION/...")
        return await self._respond(request, wanted)

    async def _respond(self, request: Request, wanted: VersionId | None) -> Response:
        compute = asyncio.get_running_loop().run_in_executor(self._executor, self._compute, request, wanted)
        try:
            async with asyncio.timeout(self._settings.request_timeout_s):
                return await compute
        except TimeoutError as error:
            raise busy(f"the answer took longer than {self._settings.request_timeout_s:g} s") from error

    def _compute(self, request: Request, wanted: VersionId | None) -> Response:
        served = self._versions.current() if wanted is None else self._versions.at(wanted)
        suffix = suffix_of(self._versions.id_of(served.snapshot).incarnation or "", self._release)
        answer = self._answer(rest_request(request, suffix), served.structures)
        if len(answer.body) > self._settings.max_answer_bytes:
            raise Problem(413, f"the answer is larger than {self._settings.max_answer_bytes} bytes; request less")
        return self._response(request.headers, answer, served, suffix)

    def _response(self, asked: Headers, answer: RestAnswer, served: ServedVersion, suffix: str) -> Response:
        body, headers = answer.body, {name.title(): value for name, value in answer.headers}
        headers.setdefault("Cache-Control", "no-cache")  # clients may keep the answer, and ask whether it is current
        headers |= self._versions.headers_of(served.snapshot)
        is_large = is_worth_compressing(headers.get("Content-Type", ""), len(body))
        compressed = is_large and accepts_gzip(", ".join(asked.getlist("accept-encoding")))
        if compressed:
            body = compress(body)
            headers["Content-Encoding"] = "gzip"
        headers["Vary"] = ", ".join(filter(None, (headers.get("Vary"), "Accept-Encoding")))
        if "Etag" in headers:
            headers["Etag"] = with_suffix(headers["Etag"], suffix, compressed=compressed)
        return Response(body, answer.status, headers)


def rest_request(request: Request, suffix: str) -> RestRequest:
    """Return the request as the SDMX REST API reads it.

    Args:
        request: the request; its path parameter ``rest`` is the path after the base path.
        suffix: the suffix of this incarnation's entity tags.
    """
    scope, headers = request.scope, request.headers
    raw: bytes = scope.get("raw_path") or quote(scope["path"]).encode()
    before = scope["path"].removesuffix(request.path_params["rest"])  # has no encoded characters
    path = "/".join(raw.decode("latin-1").split("/")[before.count("/") :])
    return RestRequest(
        path,
        scope["query_string"].decode("latin-1"),
        ", ".join(headers.getlist("accept")),
        without_suffix(", ".join(headers.getlist("if-none-match")), suffix),
    )
