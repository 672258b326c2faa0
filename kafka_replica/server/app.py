"""The ASGI app: the routes over a replica, and the middleware around them."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.errors import ServerErrorMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Scope

import kafka_replica
from kafka_replica.errors import ConfigurationError, KafkaReplicaError
from kafka_replica.metrics.replica import export_replica
from kafka_replica.metrics.sdmx import export_structures
from kafka_replica.metrics.server import RequestMetrics, SummedMetrics
from kafka_replica.replica import Replica
from kafka_replica.sdmx import DecodeCache
from kafka_replica.server.access.gate import Gate, RequestChecks
from kafka_replica.server.access.token_file import TokenFile
from kafka_replica.server.answers.default_answer import DefaultAnswer
from kafka_replica.server.answers.threads import DaemonThreads
from kafka_replica.server.answers.versions import Versions
from kafka_replica.server.errors.problem_forms import ProblemForms
from kafka_replica.server.errors.problems import answer_exception
from kafka_replica.server.errors.sdmx_errors import SdmxErrors
from kafka_replica.server.operation.health import readiness_json
from kafka_replica.server.operation.observation import Observation, UnexpectedErrors
from kafka_replica.server.operation.process_roles import MainRole, Role, WorkerRole
from kafka_replica.server.operation.producers import controlled_producers
from kafka_replica.server.pages.error_pages import ErrorPages
from kafka_replica.server.pages.producer_pages import ProducerPages
from kafka_replica.server.pages.rendering import Renderer
from kafka_replica.server.pages.sign_in_pages import SignInPages
from kafka_replica.server.pages.upload_pages import UploadPages
from kafka_replica.server.pages.views import Pages, either
from kafka_replica.server.rest import is_quick, unparsed_answer
from kafka_replica.server.routes.change_feed import ChangeFeed
from kafka_replica.server.routes.cross_origin import cross_origin
from kafka_replica.server.routes.data import DataRoutes
from kafka_replica.server.routes.direct import DirectQueries
from kafka_replica.server.routes.forwarding import ForwardingMiddleware
from kafka_replica.server.routes.history import HistoryRoutes
from kafka_replica.server.routes.known_answers import KnownAnswers
from kafka_replica.server.routes.records import RecordRoutes
from kafka_replica.server.routes.sdmx import Answer, SdmxRoutes
from kafka_replica.server.settings import ServerSettings
from kafka_replica.server.uploads.data_requests import DataRequests

if TYPE_CHECKING:
    from kafka_replica.history import VersionHistory

_log = logging.getLogger("kafka_replica.server")
_ROUTES: Final = frozenset({
    "sdmx", "pinned_sdmx", "index", "changes", "live", "ready", "metrics", "history", "diff", "records", "record",
    "validate", "map", "validate_like_fmr", "status", "structures", "artefact", "static", "upload",
    "upload_to_map", "producers", "producer", "control_producer", "sign_in", "sign_out", "artefact_diff",
})  # fmt: skip
"""The names of the endpoints: the values of the metrics' label ``route``, in addition to ``other``."""

_ADDRESSES: Final = (
    "changes", "records", "history", "validate", "map", "ws/public/data/validate", "health/live", "health/ready",
    "metrics",
)  # fmt: skip
"""The paths, without a version or another part that varies, that the root names in addition to the SDMX REST API."""


class Service:
    """The parts of the app that outlive a request.

    Args:
        replica: the replica, which the caller starts and closes.
        settings: the settings of the app.
        topic: as for ``create_app``.
        answer: as for ``create_app``.
        history: as for ``create_app``.
        role: the role of this process if the service has several; otherwise None.
        form_timeout_s: the time limit for receiving a small form.
    """

    def __init__(
        self,
        replica: Replica,
        settings: ServerSettings,
        topic: str | None = None,
        answer: Answer | None = None,
        history: VersionHistory | None = None,
        role: Role = None,
        *,
        form_timeout_s: float = 10.0,
    ) -> None:
        if replica.has_key_spaces and topic is None:
            raise ConfigurationError(
                f"the topics {', '.join(replica.topics)} have separate key spaces: name the topic of the "
                "structures with topic=, or read the topics as one with Replica(one_key_space=True)"
            )
        producers = controlled_producers(settings.producers)  # first: an invalid file must leave nothing to close
        self.replica = replica
        self.settings = settings
        cache = None if settings.decoded_bytes is None else DecodeCache(settings.decoded_bytes)
        self.versions = Versions(replica, topic, history, cache)
        self._role = role
        self._executor = DaemonThreads(settings.threads, "kafka_replica server")
        # Each has a thread of its own, because orchestrators act on a health check that waits for other requests.
        self._health_thread = DaemonThreads(1, "kafka_replica server health")
        self._metrics_thread = DaemonThreads(1, "kafka_replica server metrics")
        self._counts = RequestMetrics()
        self.summed = SummedMetrics(role.metrics_folder) if isinstance(role, MainRole) else None
        """The metrics of all processes, if this is the main process of several; otherwise None."""
        self._metrics = self.summed or self._counts
        self.feed = ChangeFeed(replica, settings, self._counts.streams)
        export_replica(replica, registry=self._metrics.registry)
        live = role.structures if isinstance(role, MainRole) else self.versions.live
        export_structures(live, name=topic or replica.topic, registry=self._metrics.registry)
        self._answer = answer or DefaultAnswer(self.versions, settings)
        # A caller's function may take arbitrarily long, and return other answers.
        self._quick = is_quick if answer is None else None
        self._unparsed = unparsed_answer if answer is None else None
        self._past = HistoryRoutes(
            self.versions,
            history,
            self._executor,
            settings.request_timeout_s,
            several_topics=replica.has_key_spaces,
        )
        self._records = RecordRoutes(self.versions, settings, self._executor, has_key_spaces=replica.has_key_spaces)
        self._requests = DataRequests(self.versions, settings)
        self._data = DataRoutes(self._requests)
        has_history = role.has_history if isinstance(role, WorkerRole) else history is not None
        self._renderer = Renderer(settings, has_history=has_history)
        self._tokens = TokenFile(settings.tokens_file) if settings.tokens_file else None
        self._pages = Pages(replica, self.versions, settings, self._executor, self._renderer, history)
        self._uploads = UploadPages(self._pages, self._requests, self.versions, self._renderer, settings)
        self._sign_in = SignInPages(self._renderer, self._tokens, form_timeout_s)
        self._producers = ProducerPages(self._pages, producers, settings, form_timeout_s)
        error_pages = ErrorPages(self._renderer, has_tokens=self._tokens is not None)
        self._forms = ProblemForms(error_pages.form, SdmxErrors(settings.base_paths).form)
        self._checks = RequestChecks(settings, self._tokens)
        sdmx = SdmxRoutes(self.versions, self._answer, settings, self._executor, self._quick, self._unparsed)
        self.known_answers = (
            # Workers have checked and counted requests to the main process. A caller's function may return any headers,
            # and the answers to requests of other origins, and to all others if some are allowed, have more headers.
            None
            if isinstance(role, MainRole) or answer is not None or settings.allowed_origins
            else KnownAnswers(self._checks, sdmx, settings.base_paths, self._counts)
        )
        """Sends answers that are known already; None if the app has to answer all requests."""
        self.app = self._make_app(sdmx)

    def _make_app(self, sdmx: SdmxRoutes) -> Starlette:
        settings = self.settings
        # The most frequent routes are first, because the router tries them in this order.
        routes = [Route(base + "/{rest:path}", sdmx.sdmx) for base in settings.base_paths]
        routes += [
            *(Route("/version/{version}" + base + "/{rest:path}", sdmx.pinned_sdmx) for base in settings.base_paths),
            *(Route(path, sdmx.sdmx) for path in settings.base_paths),
            *(Route("/version/{version}" + path, sdmx.pinned_sdmx) for path in settings.base_paths),
            *self._page_routes(),
            *_both("/health/live", self.live),
            *_both("/health/ready", self.ready),
            *_both("/metrics", self.metrics),
            *_both("/changes", self.feed.changes),
            *_both("/history", either(self._pages.history, self._past.history)),
            *_both("/diff/{before}/{after}", either(self._pages.diff, self._past.diff)),
            *(
                route
                for base in ("", "/version/{version}")
                for route in (
                    Route(base + "/records/{key:any}", self._records.record),
                    *_both(base + "/records", self._records.records),
                )
            ),
            Route("/static/{name}", self._pages.static),
            *(
                route
                for base in ("", "/version/{version}")
                for name, endpoint in (("/validate", self._data.validate), ("/map", self._data.map))
                for route in _both(base + name, endpoint, "POST")
            ),
            *_both("/ws/public/data/validate", self._data.validate_like_fmr, "POST"),
        ]
        app = _App(
            routes=routes,
            middleware=[
                *self._middleware(routes),
                Middleware(DirectQueries, routes=sdmx, base_paths=settings.base_paths),
            ],
            exception_handlers={HTTPException: answer_exception},
            lifespan=self._lifespan,
        )
        app.router.redirect_slashes = False
        return app

    def _middleware(self, routes: list[Route]) -> list[Middleware]:
        """Return the layers around the routes, the outermost first."""
        settings = self.settings
        if isinstance(self._role, MainRole):
            return [Middleware(UnexpectedErrors)]  # the worker has applied the other middleware
        middleware = [
            Middleware(Observation, metrics=self._counts, route_of=_route_of, forms=self._forms),
            *cross_origin(settings.allowed_origins),
            Middleware(UnexpectedErrors),
            Middleware(Gate, checks=self._checks),
        ]
        if isinstance(self._role, WorkerRole):
            middleware.append(Middleware(ForwardingMiddleware, role=self._role, replica=self.replica, routes=routes))
        return middleware

    def _page_routes(self) -> list[Route]:
        """Return the routes of the pages, for the current version and for a version in the path."""
        pages = self._pages
        routes = [Route("/", either(pages.status, self.index)), *_both("/version/{version}", pages.status)]
        for prefix in ("", "/version/{version}"):
            routes += _both(f"{prefix}/structures", pages.structures)
            routes += _both(f"{prefix}/structures/{{cls}}/{{agency}}/{{id}}/{{artefact_version}}", pages.artefact)
            routes += _both(f"{prefix}/diff", pages.diff)  # the form sends the versions as query parameters
            routes += _both(f"{prefix}/producers", self._producers.producers)
            routes += _both(f"{prefix}/producers/{{name}}", self._producers.producer)
            routes += _both(f"{prefix}/upload", self._uploads.page)
            routes += _both(f"{prefix}/upload", self._uploads.upload, "POST")
            routes += _both(f"{prefix}/upload/map", self._uploads.upload_to_map, "POST")
        routes += _both("/producers/{name}/{action}", self._producers.control_producer, "POST")
        routes += _both("/sign-in", self._sign_in.page)
        routes += _both("/sign-in", self._sign_in.sign_in, "POST")
        routes += _both("/sign-out", self._sign_in.sign_out, "POST")
        routes += _both("/version/{version}/history", pages.history)
        routes += _both("/version/{version}/diff/{before}/{after}", pages.diff)
        artefact = "/{cls}/{agency}/{id}/{artefact_version}"
        routes += _both(f"/diff/{{before}}/{{after}}{artefact}", pages.artefact_diff)
        routes += _both(f"/version/{{version}}/diff/{{before}}/{{after}}{artefact}", pages.artefact_diff)
        return routes

    # --- endpoints ---

    async def index(self, request: Request) -> Response:
        """Answer with the URLs of the service."""
        base = str(request.url.replace(query=""))
        addresses = {
            "structures": [f"{base[:-1]}{path}" for path in self.settings.base_paths],
            **{name: base + name for name in _ADDRESSES},
        }
        return _json({"service": f"kafka-replica {kafka_replica.__version__}", **addresses})

    async def live(self, _request: Request) -> Response:
        """Answer that the process handles requests."""
        return _json({"live": True})

    async def ready(self, _request: Request) -> Response:
        """Answer whether the service should receive requests, and why."""
        loop = asyncio.get_running_loop()
        # in a thread: a store on disk may have to count its keys
        status = await loop.run_in_executor(self._health_thread, self.replica.status)
        found = readiness_json(status, self.settings)
        return _json(found, 200 if found["ready"] else 503)

    async def metrics(self, _request: Request) -> Response:
        """Answer with the metrics of the replica, its structures, the requests and the process."""
        loop = asyncio.get_running_loop()
        text, media_type = await loop.run_in_executor(self._metrics_thread, self._metrics.exposition)
        return Response(text, 200, {"Cache-Control": "no-store"}, media_type)

    # --- lifecycle ---

    def prepare(self) -> None:
        """Decode all structures, so that the first queries for references are fast; log problems."""
        try:
            self.versions.live.prepare()
        except KafkaReplicaError as error:
            _log.warning("preparing the indexes: %s", error)

    async def close(self) -> None:
        """End the streams and cancel the work that is waiting for a thread. Idempotent."""
        await self.feed.close()
        for threads in (self._executor, self._health_thread, self._metrics_thread):
            threads.shutdown(wait=False, cancel_futures=True)
        self._requests.close()
        self._pages.close()
        self._producers.close()
        self.versions.close()

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await self.close()


def create_app(
    replica: Replica,
    settings: ServerSettings | None = None,
    *,
    topic: str | None = None,
    answer: Answer | None = None,
    history: VersionHistory | None = None,
) -> Starlette:
    """Return an ASGI app that serves a replica; mount the app in a program, or run it with any ASGI server.

    ::

        with Replica({"bootstrap.servers": "localhost:9092"}, "sdmx.structures") as replica:
            uvicorn.run(create_app(replica))

    The app never changes the replica. The caller starts and closes the replica; closing it ends open streams of
    changes. The ASGI server sets the limits for connections, headers and slow clients.

    Args:
        replica: the replica; its option ``kept_versions`` is the number of versions that requests can name by path.
        settings: the settings; by default those of ``ServerSettings()``.
        topic: the topic with the structures, if the replica has several topics with separate key spaces.
        answer: a function that answers requests for structures, instead of the SDMX REST API of this library.
        history: a history on disk that follows the replica, for earlier versions and ``asOf``; the caller closes it.

    Raises:
        ConfigurationError: the file of tokens or a producer's settings file cannot be used; ``topic`` is missing.
        MissingExtraError: producers are configured, and their extra is not installed.
        ReplicaClosedError: the replica is closed.
    """
    return Service(replica, settings or ServerSettings(), topic, answer, history).app


class _App(Starlette):
    """An app without Starlette's own layer for unexpected errors, because ``UnexpectedErrors`` answers them.

    A program that has set ``debug``, or added a handler for them, gets that layer.
    """

    def build_middleware_stack(self) -> ASGIApp:
        """Return the layers around the routes."""
        stack = super().build_middleware_stack()
        is_needed = self.debug or not self.exception_handlers.keys().isdisjoint({500, Exception})
        return stack.app if isinstance(stack, ServerErrorMiddleware) and not is_needed else stack


def _both(path: str, endpoint: Any, method: str = "GET") -> list[Route]:
    """Return routes to an endpoint with and without a trailing slash."""
    return [Route(each, endpoint, methods=[method]) for each in (path, f"{path}/")]


def _json(value: dict[str, Any], status: int = 200) -> Response:
    body = json.dumps(value, separators=(",", ":"))
    return Response(body, status, {"Cache-Control": "no-store"}, "application/json")


def _route_of(scope: Scope) -> str:
    name = getattr(scope.get("endpoint"), "__name__", "")
    return name if name in _ROUTES else "other"
