"""The pages of the reference producers: their states, their transactions, and forms that control them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from threading import Event
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from kafka_replica.errors import KafkaReplicaError, UsageError
from kafka_replica.producer.errors import OutboxUnavailableError
from kafka_replica.server.access.policy import GRANTED, Role, Token
from kafka_replica.server.access.sessions import check_form
from kafka_replica.server.answers.accept import prefers_html
from kafka_replica.server.answers.computing import compute_in
from kafka_replica.server.answers.threads import DaemonThreads
from kafka_replica.server.errors.problems import Problem, busy
from kafka_replica.server.operation.control_log import log_control
from kafka_replica.server.operation.producers import ACTIONS, SELECTIONS, ControlledProducer
from kafka_replica.server.pages.links import Address, Links
from kafka_replica.server.pages.redaction import redacted
from kafka_replica.server.pages.views import Pages
from kafka_replica.server.settings import ServerSettings
from kafka_replica.server.uploads.forms import form_fields
from kafka_replica.stores import Snapshot

T = TypeVar("T")
_MOST_REASON: Final = 200
_THREADS: Final = 4


class Row(NamedTuple):
    """A producer in the list: its facts, or the error that occurred when reading them."""

    name: str
    facts: Mapping[str, Any] | None
    error: str | None


class ProducerPages:
    """The endpoints of producers.

    Requests to databases have threads of their own: a database that does not answer delays no other requests.

    Args:
        pages: renders pages.
        producers: the producers by name.
        settings: the settings of the app.
        form_timeout_s: the time limit for receiving a form.
    """

    def __init__(
        self,
        pages: Pages,
        producers: Mapping[str, ControlledProducer],
        settings: ServerSettings,
        form_timeout_s: float,
    ) -> None:
        self._pages = pages
        self._producers = producers
        self._settings = settings
        self._form_timeout_s = form_timeout_s
        self._executor = DaemonThreads(_THREADS, "kafka_replica producers")

    async def producers(self, request: Request) -> Response:
        """Answer with the list of producers."""
        if not _is_browser(request):
            rows = await self._computed(self._rows)
            return _json({"producers": [row.facts or {"name": row.name, "error": row.error} for row in rows]})

        def context(_links: Links, _pinned: Snapshot | None) -> Mapping[str, object]:
            return {"section": "producers", "here": Address(("producers",)), "rows": self._rows()}

        return await self._pages.of_service(request, "producers.html", context, self._executor)

    async def producer(self, request: Request) -> Response:
        """Answer with the state and transactions of a producer."""
        producer = self._named(request)
        selection, watch = request.query_params.get("status") or "all", "watch" in request.query_params
        done = request.query_params.get("done", "")
        if not _is_browser(request):
            facts = await self._computed(lambda: producer.facts(selection, watch=watch).as_json())
            return _json(_shown(facts))

        def context(links: Links, _pinned: Snapshot | None) -> Mapping[str, object]:
            facts = _with_problems(lambda: producer.facts(selection, watch=watch))
            unpinned = links.pinned_to(None)
            return {
                "section": "producers", "here": Address(("producers", producer.name)), "name": producer.name,
                "facts": _shown(facts.as_json()), "watched": watch, "selection": selection,
                "selections": list(SELECTIONS), "done": done if done in ACTIONS else "",
                "actions": {action: unpinned.page("producers", producer.name, action) for action in ACTIONS},
                "may_control": _may_control(request), "has_tokens": self._settings.tokens_file is not None,
                "sign_in": unpinned.page("sign-in", next=unpinned.page("producers", producer.name)),
            }  # fmt: skip

        answer = await self._pages.of_service(request, "producer.html", context, self._executor)
        answer.headers["Referrer-Policy"] = "same-origin"  # so that browsers send the origin of its forms
        return answer

    async def control_producer(self, request: Request) -> Response:
        """Perform an action; the gate has checked role and origin, this method checks the form."""
        producer, action = self._named(request), request.path_params["action"]
        if action not in ACTIONS:
            raise Problem(404, f"unknown action; actions are {', '.join(ACTIONS)}")
        fields = await form_fields(request, self._form_timeout_s)
        check_form(request.scope, fields)
        if action == "flush" and fields.get("confirm") != "yes":
            raise Problem(400, "a full flush sends everything again: confirm it (confirm=yes)")
        token: Token = request.scope[GRANTED]
        who = token.holder or f"token {token.digest.hex()[:8]}"
        client = "-" if request.client is None else request.client.host
        reason = f"{fields.get('reason', '').strip()[:_MOST_REASON] or 'by request'} (by {who})"
        outcome = await self._performed(
            lambda: producer.perform(action, reason),
            lambda outcome: log_control(action, f"producer {producer.name}", who, client, outcome),
        )
        if not _is_browser(request):
            return _json({"done": action, "detail": outcome})
        root = quote(request.scope.get("root_path", ""))
        address = f"{root}/producers/{quote(producer.name, safe='')}?done={action}"
        return RedirectResponse(address, 303, {"Cache-Control": "no-store"})

    def close(self) -> None:
        """Stop the threads, and close the connections to all databases. Idempotent."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        for producer in self._producers.values():
            producer.close()

    def _named(self, request: Request) -> ControlledProducer:
        found = self._producers.get(request.path_params["name"])
        if found is None:
            raise Problem(404, "unknown producer; the setting producers lists the known ones")
        return found

    def _rows(self) -> list[Row]:
        rows = []
        for name, producer in self._producers.items():
            try:
                rows.append(Row(name, _shown(producer.facts(most=0).as_json()), None))
            except KafkaReplicaError as error:
                rows.append(Row(name, None, redacted(str(error))))
        return rows

    async def _performed(self, perform: Callable[[], str], log: Callable[[str], None]) -> str:
        """Perform an action in a thread, which logs the outcome: the action may end after the time limit."""
        ended = Event()

        def compute() -> str:
            try:
                outcome = _with_problems(perform)
            except Exception as error:
                log(f"failed: {error.detail if isinstance(error, Problem) else type(error).__name__}")
                raise
            else:
                log(outcome)
            finally:
                ended.set()
            return outcome

        try:
            return await compute_in(self._executor, compute, self._settings.request_timeout_s)
        except Problem:
            if not ended.is_set():
                log("requested, outcome not known yet")
            raise

    async def _computed(self, compute: Callable[[], T]) -> T:
        return await compute_in(self._executor, lambda: _with_problems(compute), self._settings.request_timeout_s)


def _with_problems(compute: Callable[[], T]) -> T:
    """Return the result of a function; translate errors of the producer's database into problems without secrets."""
    try:
        return compute()
    except OutboxUnavailableError as error:
        raise busy(redacted(str(error))) from error
    except UsageError as error:
        raise Problem(400, redacted(str(error))) from error
    except KafkaReplicaError as error:
        raise Problem(409, redacted(str(error))) from error


def _shown(facts: dict[str, Any]) -> dict[str, Any]:
    """Return facts whose error messages contain no addresses and local paths."""
    shown = {**facts, "reason": facts["reason"] and redacted(facts["reason"])}
    if facts["failed"]:
        shown["failed"] = {**facts["failed"], "error": redacted(facts["failed"]["error"] or "")}
    shown["transactions"] = [{**one, "error": one["error"] and redacted(one["error"])} for one in facts["transactions"]]
    return shown


def _may_control(request: Request) -> bool:
    token: Token | None = request.scope.get(GRANTED)
    return token is not None and token.role >= Role.CONTROL


def _is_browser(request: Request) -> bool:
    return prefers_html(", ".join(request.headers.getlist("accept")))


def _json(value: dict[str, Any]) -> Response:
    headers = {"Cache-Control": "no-store", "Vary": "Accept"}
    return Response(json.dumps(value, separators=(",", ":"), default=str), 200, headers, "application/json")
