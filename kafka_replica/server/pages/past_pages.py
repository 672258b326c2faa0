"""The pages about earlier versions: the list of a history's versions, and the difference between two versions."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from starlette.requests import Request

from kafka_replica.errors import KafkaReplicaError
from kafka_replica.sdmx import Structures, Urn, UrnError
from kafka_replica.sdmx.model import Artefact
from kafka_replica.server.answers.versions import VersionId, Versions
from kafka_replica.server.errors.problems import Problem
from kafka_replica.server.pages.artefact_page import ArtefactQuery, existing
from kafka_replica.server.pages.differences import PartDifference, differences
from kafka_replica.server.pages.links import Address, Links
from kafka_replica.server.pages.paging import page_of, start_of
from kafka_replica.server.pages.redaction import redacted

if TYPE_CHECKING:
    from kafka_replica.history import VersionHistory

VERSIONS: Final = 50
KEYS: Final = 200
PARTS: Final = 5
"""The maximum number of differences of an artefact that the list of keys shows."""
_LIMIT_S: Final = 1.0


class Comparison(NamedTuple):
    """Two versions to compare, and the number of entries to skip."""

    before: VersionId
    after: VersionId
    start: int

    @staticmethod
    def of(request: Request) -> Comparison:
        """Parse the versions in the path or in a form's parameters.

        Raises:
            Problem: 404 if a version is malformed, 400 if ``start`` is.
        """
        names = ("before", "after")
        texts = (request.path_params.get(name) or request.query_params.get(name, "") for name in names)
        before, after = (VersionId.parse(text) for text in texts)
        if before is None or after is None:
            raise Problem(404, "the path is /diff/BEFORE/AFTER, with the numbers of two versions")
        return Comparison(before, after, start_of(request))


def history_context(history: VersionHistory | None, start: int, links: Links) -> dict[str, Any]:
    """Return the values for the template of the history.

    Args:
        history: the history on disk; None if there is none.
        start: the sequence of the newest version to show; 0 to start at the newest version of all.
        links: the links of the page.

    Raises:
        Problem: 501 if there is no history.
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
    """Return the values for the template of a difference.

    Args:
        versions: the versions.
        wanted: the versions to compare, and the number of keys to skip.
        links: the links of the page.
        several_topics: whether keys consist of topic and key.

    Raises:
        Problem: a version does not exist, or is no longer kept.
    """
    found = versions.difference(wanted.before, wanted.after)
    before, after = versions.id_of(found.before), versions.id_of(found.after)
    kinds = (("added", found.added, after), ("changed", found.changed, after), ("deleted", found.deleted, before))
    keys = [(kind, key, links.pinned_to(version)) for kind, some, version in kinds for key in sorted(some)]
    address = Address(("diff", str(before), str(after)))
    shown = keys[wanted.start : wanted.start + KEYS]
    rows = [_key(kind, key, pinned, is_plain=not several_topics) for kind, key, pinned in shown]
    _add_parts(rows, versions, before, after, links)
    return {
        "section": "history",
        "here": address.with_parameters(start=wanted.start or ""),
        "before": before,
        "after": after,
        "before_links": links.pinned_to(before),
        "after_links": links.pinned_to(after),
        "counts": [(kind, len(some)) for kind, some, _ in kinds],
        "keys": rows,
        "page": page_of(address, links, wanted.start, KEYS, len(keys)),
    }


def artefact_diff_context(query: ArtefactQuery, versions: Versions, wanted: Comparison, links: Links) -> dict[str, Any]:
    """Return the values for the template of an artefact's difference.

    Args:
        query: the artefact.
        versions: the versions.
        wanted: the versions to compare, and the number of differences to skip.
        links: the links of the page.

    Raises:
        Problem: a version is not kept, does not have the artefact, or has it in a record that cannot be read.
    """
    served = [versions.at(each) for each in (wanted.before, wanted.after)]
    before, after = (versions.id_of(each.snapshot) for each in served)
    urn = existing(query, served[1].structures)
    found = _differences(urn, served[0].structures, served[1].structures)
    if isinstance(found, str):
        raise Problem(404, found)
    address = Address(("diff", str(before), str(after), urn.cls, urn.agency, urn.id, urn.version))
    return {
        "section": "history",
        "here": address.with_parameters(start=wanted.start or ""),
        "urn": urn,
        "before": before,
        "after": after,
        "before_link": links.pinned_to(before).artefact(urn),
        "after_link": links.pinned_to(after).artefact(urn),
        "all_link": links.page("diff", str(before), str(after)),
        "differences": found[wanted.start : wanted.start + KEYS],
        "page": page_of(address, links, wanted.start, KEYS, len(found)),
    }


def _differences(urn: Urn, before: Structures, after: Structures) -> list[PartDifference] | str:
    """Return the differences of an artefact, or the reason why they cannot be determined."""
    found = []
    for structures in (before, after):
        try:
            artefact = structures.get(urn)
        except KafkaReplicaError as error:
            return redacted(str(error))
        assert isinstance(artefact, Artefact)  # noqa: S101 - the URN names no item
        found.append(artefact)
    return list(differences(*found))


def _key(kind: str, key: bytes, links: Links, *, is_plain: bool) -> dict[str, Any]:
    """Return a row: the kind of the change, the key, and a link to its artefact in the version that has it."""
    text = key.replace(b"\0", b": ", 0 if is_plain else 1).decode(errors="backslashreplace")
    try:
        urn = Urn.parse(key) if is_plain else None
    except UrnError:
        urn = None
    link = None if urn is None or not urn.is_maintainable else links.artefact(urn)
    return {"kind": kind, "text": text, "link": link, "urn": None if link is None else urn}


def _add_parts(
    rows: list[dict[str, Any]], versions: Versions, before: VersionId, after: VersionId, links: Links
) -> None:
    """Add the first differences of each changed artefact to its row; after the time limit, add only a link."""
    give_up_s = time.monotonic() + _LIMIT_S
    for row in rows:
        urn = row["urn"]
        row |= {"parts": [], "more": 0, "all": None, "error": None}
        if urn is None or row["kind"] != "changed":
            continue
        row["all"] = links.page("diff", str(before), str(after), urn.cls, urn.agency, urn.id, urn.version)
        if time.monotonic() < give_up_s:
            found = _differences(urn, versions.at(before).structures, versions.at(after).structures)
            if isinstance(found, str):
                row |= {"error": found, "all": None}
            else:
                row |= {"parts": found[:PARTS], "more": len(found) - PARTS}
