"""The endpoints of the pages. Each page shows one version, and is rendered in a thread."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Executor
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final, TypeAlias

from starlette.requests import Request
from starlette.responses import Response

from kafka_replica.replica import Replica
from kafka_replica.server.answers.accept import prefers_html
from kafka_replica.server.answers.computing import compute_in
from kafka_replica.server.answers.versions import ServedVersion, Versions, pinned_version, version_headers
from kafka_replica.server.errors.problems import Problem
from kafka_replica.server.pages.artefact_page import ArtefactQuery, artefact_context
from kafka_replica.server.pages.explorer import Query, explorer_context
from kafka_replica.server.pages.links import Links
from kafka_replica.server.pages.paging import start_of
from kafka_replica.server.pages.past_pages import (
    Comparison,
    artefact_diff_context,
    diff_context,
    history_context,
)
from kafka_replica.server.pages.rendering import Renderer, html_response
from kafka_replica.server.pages.search_index import SearchIndex
from kafka_replica.server.pages.status_page import StatusPage
from kafka_replica.server.settings import ServerSettings
from kafka_replica.stores import Snapshot

if TYPE_CHECKING:
    from kafka_replica.history import VersionHistory

Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]
Context: TypeAlias = Mapping[str, object]

_STATIC: Final = {"pages.css": "text/css", "icon.svg": "image/svg+xml"}


class Pages:
    """The endpoints of the pages.

    Args:
        replica: the replica.
        versions: the versions of the replica.
        settings: the settings of the app.
        executor: runs the computation of pages.
        renderer: renders the templates.
        history: the history on disk; None if there is none.
    """

    def __init__(
        self,
        replica: Replica,
        versions: Versions,
        settings: ServerSettings,
        executor: Executor,
        renderer: Renderer,
        history: VersionHistory | None,
    ) -> None:
        self._replica = replica
        self._versions = versions
        self._settings = settings
        self._executor = executor
        self._renderer = renderer
        self._history = history
        self._status = StatusPage(replica, settings)
        self._index = SearchIndex(settings.search_bytes)

    async def status(self, request: Request) -> Response:
        """Answer with the status of the replica; for a pinned path, also with the facts of its version."""
        start = start_of(request)

        def context(links: Links, pinned: Snapshot | None) -> Context:
            return {**self._status.context(links, start), "pinned": pinned}

        return await self.of_service(request, "status.html", context)

    async def history(self, request: Request) -> Response:
        """Answer with the versions that the history keeps."""
        start = start_of(request)

        def context(links: Links, _pinned: Snapshot | None) -> Context:
            return history_context(self._history, start, links)

        return await self.of_service(request, "history.html", context)

    async def diff(self, request: Request) -> Response:
        """Answer with the difference between two versions."""
        wanted = Comparison.of(request)

        def context(links: Links, _pinned: Snapshot | None) -> Context:
            return diff_context(self._versions, wanted, links, several_topics=self._replica.has_key_spaces)

        return await self.of_service(request, "diff.html", context)

    async def artefact_diff(self, request: Request) -> Response:
        """Answer with the difference of an artefact between two versions."""
        wanted, query = Comparison.of(request), ArtefactQuery.of(request)

        def context(links: Links, _pinned: Snapshot | None) -> Context:
            return artefact_diff_context(query, self._versions, wanted, links)

        return await self.of_service(request, "artefact_diff.html", context)

    async def structures(self, request: Request) -> Response:
        """Answer with the structures of a version that a query selects."""
        query = Query.of(request)

        def context(served: ServedVersion, links: Links) -> Context:
            pinned = links.pinned_to(self._versions.id_of(served.snapshot))
            if query.text:
                self._index.begin(served.structures, served.id)
            return explorer_context(query, served.structures, self._index, links, pinned)

        return await self.of_version(request, "structures.html", context)

    async def artefact(self, request: Request) -> Response:
        """Answer with an artefact of a version."""
        query = ArtefactQuery.of(request)

        def context(served: ServedVersion, links: Links) -> Context:
            pinned = links.pinned_to(self._versions.id_of(served.snapshot))
            return artefact_context(query, served.structures, links, pinned)

        return await self.of_version(request, "artefact.html", context)

    def close(self) -> None:
        """Stop the background thread of the search index. Idempotent."""
        self._index.close()

    async def static(self, request: Request) -> Response:
        """Answer with the style sheet or the icon."""
        name = request.path_params["name"]
        if name not in _STATIC:
            raise Problem(404, "this file does not exist")
        return Response(_file(name), 200, {"Cache-Control": "max-age=3600"}, _STATIC[name])

    async def of_version(
        self, request: Request, template: str, context: Callable[[ServedVersion, Links], Context]
    ) -> Response:
        """Answer with a page of one version: the version of a pinned path, or the current version."""
        wanted = pinned_version(request.path_params)

        def compute() -> Response:
            served = self._versions.current() if wanted is None else self._versions.at(wanted)
            version = self._versions.id_of(served.snapshot)
            links = self._renderer.links(request.scope, None if wanted is None else version)
            shown = {"version": version, **context(served, links)}
            return self._page(template, links, shown, version_headers(version, served.snapshot.position))

        return await compute_in(self._executor, compute, self._settings.request_timeout_s)

    async def of_service(
        self,
        request: Request,
        template: str,
        context: Callable[[Links, Snapshot | None], Context],
        executor: Executor | None = None,
    ) -> Response:
        """Answer with a page that shows no structures of a version; its links keep the version of a pinned path.

        Args:
            request: the request.
            template: the name of the template.
            context: returns the values for the template.
            executor: computes the page, if it is not the executor of all other pages.
        """
        wanted = pinned_version(request.path_params)

        def compute() -> Response:
            pinned = None if wanted is None else self._versions.snapshot(wanted)
            version = None if pinned is None else self._versions.id_of(pinned)
            links = self._renderer.links(request.scope, version)
            shown = {"version": version, **context(links, pinned)}
            headers = {} if pinned is None or version is None else version_headers(version, pinned.position)
            return self._page(template, links, shown, headers)

        return await compute_in(executor or self._executor, compute, self._settings.request_timeout_s)

    def _page(self, template: str, links: Links, context: Context, headers: dict[str, str]) -> Response:
        body = self._renderer.html(template, links, context)
        if len(body) > self._settings.max_response_bytes:
            raise Problem(413, f"the page is larger than {self._settings.max_response_bytes} bytes")
        return html_response(body, headers=headers | self._versions.state_headers())


def either(page: Endpoint, other: Endpoint) -> Endpoint:
    """Return an endpoint that answers browsers with ``page`` and programs with ``other``, whose name it has."""

    async def endpoint(request: Request) -> Response:
        is_page = prefers_html(", ".join(request.headers.getlist("accept")))
        answer = await (page if is_page else other)(request)
        answer.headers.add_vary_header("Accept")
        return answer

    endpoint.__name__ = other.__name__
    return endpoint


@cache
def _file(name: str) -> bytes:
    return (files(str(__package__)) / "static" / name).read_bytes()
