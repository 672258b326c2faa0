"""The routes of a history on disk: its versions, and the difference between two versions."""

from __future__ import annotations

import json
from concurrent.futures import Executor
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from starlette.requests import Request
from starlette.responses import Response

from kafka_replica.history import KeptVersion
from kafka_replica.listeners.change_json import keys_json, position_json
from kafka_replica.server.answers.computing import compute_in
from kafka_replica.server.answers.numbers import page_size, positive_number
from kafka_replica.server.answers.versions import VersionId, Versions
from kafka_replica.server.errors.problems import Problem

if TYPE_CHECKING:
    from kafka_replica.history import VersionHistory

_MOST: Final = 1000
_USUAL: Final = 100


class HistoryRoutes:
    """The endpoints ``/history`` and ``/diff/{before}/{after}``.

    Args:
        versions: the versions.
        history: the history on disk; None if there is none.
        executor: runs the computation of answers.
        timeout_s: the time limit for an answer.
        several_topics: whether keys consist of topic and key.
    """

    def __init__(
        self,
        versions: Versions,
        history: VersionHistory | None,
        executor: Executor,
        timeout_s: float,
        *,
        several_topics: bool,
    ) -> None:
        self._versions = versions
        self._history = history
        self._executor = executor
        self._timeout_s = timeout_s
        self._several_topics = several_topics

    async def history(self, request: Request) -> Response:
        """Answer with a part of the list of versions, the newest first."""
        start, limit = _start(request), page_size(request.query_params.get("limit"), _USUAL, _MOST)
        if self._history is None:
            raise Problem(501, "this service keeps no history on disk; start it with history_path")
        read = partial(self._history.versions, start, limit)
        versions = await compute_in(self._executor, read, self._timeout_s)
        following = versions[-1].sequence - 1 if versions else 0
        same = f"&limit={limit}" if "limit" in request.query_params else ""
        path = "" if request.url.path.endswith("/") else "history"
        return _json({
            "versions": [_version_json(version) for version in versions],
            "next": f"{path}?start={following}{same}" if following else None,
        })  # fmt: skip

    async def diff(self, request: Request) -> Response:
        """Answer with the keys whose records differ between two versions."""
        ids = [VersionId.parse(request.path_params[name]) for name in ("before", "after")]
        before, after = ids
        if before is None or after is None:
            raise Problem(404, "the path is /diff/BEFORE/AFTER, with the numbers of two versions")
        return await compute_in(self._executor, lambda: _json(self._difference(before, after)), self._timeout_s)

    def _difference(self, before: VersionId, after: VersionId) -> dict[str, Any]:
        found = self._versions.difference(before, after)
        keys = {"added": found.added, "changed": found.changed, "deleted": found.deleted}
        return {
            "before": str(self._versions.id_of(found.before)),
            "after": str(self._versions.id_of(found.after)),
            **{name: keys_json(some, several_topics=self._several_topics) for name, some in keys.items()},
        }


def _version_json(version: KeptVersion) -> dict[str, Any]:
    return {
        "version": str(VersionId(version.number, version.incarnation)),
        "published": version.published.isoformat(timespec="milliseconds"),
        **position_json(version.position),
        "keys": version.keys,
        "changed": version.changed,
        "deleted": version.deleted,
        "missing": version.missing,
        "transactions": version.transactions,
        "source_transactions": version.source_transactions,
        "rebuilt": version.rebuilt,
    }


def _start(request: Request) -> int | None:
    text = request.query_params.get("start")
    return None if text is None else positive_number("start", text)


def _json(value: dict[str, Any]) -> Response:
    return Response(json.dumps(value, separators=(",", ":")), 200, {"Cache-Control": "no-cache"}, "application/json")
