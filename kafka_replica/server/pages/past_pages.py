"""The pages of the past: the versions that a history keeps, and the difference of two versions."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from starlette.requests import Request

from kafka_replica.history import VersionHistory
from kafka_replica.sdmx import Urn, UrnError
from kafka_replica.server.pages.links import Address, Links
from kafka_replica.server.pages.paging import page_of, start_of
from kafka_replica.server.problems import Problem
from kafka_replica.server.versions import VersionId, Versions

VERSIONS: Final = 50
KEYS: Final = 200


class Comparison(NamedTuple):
    """Two versions to compare, and the number of keys at the beginning to leave out."""

    before: VersionId
    after: VersionId
    start: int

    @staticmethod
    def of(request: Request) -> Comparison:
        """Return the versions that the path names, or a form's parameters.

        Raises:
            Problem: 400 or 404, they are not versions.
        """
        names = ("before", "after")
        texts = (request.path_params.get(name) or request.query_params.get(name, "") for name in names)
        before, after = (VersionId.parse(text) for text in texts)
        if before is None or after is None:
            raise Problem(404, "the path is /diff/BEFORE/AFTER, with the numbers of two versions")
        return Comparison(before, after, start_of(request))


def history_context(history: VersionHistory | None, start: int, links: Links) -> dict[str, Any]:
    """Return the values of the template of the history.

    Args:
        history: the history on disk.
        start: the sequence of the newest version to show; 0 for the newest of all.
        links: the addresses of the page.

    Raises:
        Problem: 501, there is no history.
    """
    if history is None:
        raise Problem(501, "this service keeps no history on disk; start it with history_path")
    found = history.versions(start or None, VERSIONS + 1)
    earlier: list[str | None] = [str(VersionId(one.number, one.incarnation)) for one in found[1:]]
    address = Address(("history",))
    return {
        "section": "history",
        "here": address.with_parameters(start=start or ""),
        "versions": [
            {"facts": one, "id": VersionId(one.number, one.incarnation), "before": before}
            for one, before in zip(found[:VERSIONS], [*earlier, None], strict=False)
        ],
        "compare": links.page("diff"),
        "newest": links.to(address) if start else None,
        "older": links.to(address.with_parameters(start=found[VERSIONS].sequence)) if len(found) > VERSIONS else None,
    }


def diff_context(versions: Versions, wanted: Comparison, links: Links, *, several_topics: bool) -> dict[str, Any]:
    """Return the values of the template of a difference.

    Args:
        versions: the versions.
        wanted: the versions to compare.
        links: the addresses of the page.
        several_topics: whether keys are named by topic.

    Raises:
        Problem: a version does not exist, or is no longer kept.
    """
    found = versions.difference(wanted.before, wanted.after)
    before, after = versions.id_of(found.before), versions.id_of(found.after)
    kinds = (("added", found.added, after), ("changed", found.changed, after), ("deleted", found.deleted, before))
    keys = [(kind, key, links.pinned_to(version)) for kind, some, version in kinds for key in sorted(some)]
    address = Address(("diff", str(before), str(after)))
    shown = keys[wanted.start : wanted.start + KEYS]
    return {
        "section": "history",
        "here": address.with_parameters(start=wanted.start or ""),
        "before": before,
        "after": after,
        "before_links": links.pinned_to(before),
        "after_links": links.pinned_to(after),
        "counts": [(kind, len(some)) for kind, some, _ in kinds],
        "keys": [_key(kind, key, pinned, is_plain=not several_topics) for kind, key, pinned in shown],
        "page": page_of(address, links, wanted.start, KEYS, len(keys)),
    }


def _key(kind: str, key: bytes, links: Links, *, is_plain: bool) -> dict[str, Any]:
    """Return a row: the kind of the change, the key, and the page of its artefact in the version that has it."""
    text = key.replace(b"\0", b": ", 0 if is_plain else 1).decode(errors="backslashreplace")
    try:
        urn = Urn.parse(key) if is_plain else None
    except UrnError:
        urn = None
    link = None if urn is None or not urn.is_maintainable else links.artefact(urn)
    return {"kind": kind, "text": text, "link": link}
