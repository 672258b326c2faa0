"""Writing of an answer's message, with notices about omitted artefacts."""

from __future__ import annotations

from typing import NamedTuple

from kafka_replica.common.wording import counted
from kafka_replica.errors import MissingExtraError
from kafka_replica.sdmx import Format, UnwritableError, Urn, explain_unwritable
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.model import Artefact, OpaqueArtefact
from kafka_replica.server.rest.answer_artefacts import Contents
from kafka_replica.server.rest.error_messages import with_notices
from kafka_replica.server.rest.rejections import Rejection, not_acceptable, semantic_error, unreadable
from kafka_replica.server.rest.settings import RestSettings


class WrittenMessage(NamedTuple):
    """A structure message, the number of artefacts it omits, and those of them that the format cannot represent."""

    data: bytes
    omitted: int = 0
    refused: tuple[Artefact, ...] = ()


def written(contents: Contents, format_: Format, settings: RestSettings) -> WrittenMessage | Rejection:
    """Return the message of an answer in a format, or a rejection.

    Artefacts that cannot be read or represented are omitted only if the answer has others and the settings allow it;
    the message then reports this.
    """
    try:
        return _written(contents, format_, settings)
    except MissingExtraError as error:
        return not_acceptable(str(error))


def omits_less(contents: Contents, format_: Format, message: WrittenMessage) -> bool:
    """Return whether a format omits fewer artefacts than a message in another one.

    This takes less time than writing the message if the format omits many: it ends once they are too many.
    """
    lacking = {artefact.urn for artefact in message.refused}
    others = (artefact for artefact in contents.artefacts if artefact.urn not in lacking)
    omitted = len(contents.errors)
    try:
        for artefact in (*message.refused, *others):
            if isinstance(artefact, OpaqueArtefact) or explain_unwritable(artefact, format_) is not None:
                omitted += 1
                if omitted >= message.omitted:
                    return False
    except MissingExtraError:
        return False
    return True


def _written(contents: Contents, format_: Format, settings: RestSettings) -> WrittenMessage | Rejection:
    notices = {urn: str(error) for urn, error in contents.errors.items()}
    artefacts = contents.artefacts
    refused: dict[Urn, str] = {}
    if notices and (settings.unwritable == "reject" or not contents.matched):
        return _unreadable(contents)
    try:
        data = settings.write(artefacts, format_, settings.header)
    except UnwritableError as error:
        if settings.unwritable == "reject" or len(artefacts) == 1:
            return not_acceptable(str(error))
        refused = _refused(artefacts, format_)
        if not refused or contents.matched.keys() <= refused.keys():
            return not_acceptable(str(error))
        notices |= refused
        try:
            data = settings.write([each for each in artefacts if each.urn not in refused], format_, settings.header)
        except UnwritableError as again:
            return not_acceptable(str(again))
    texts = [f"This answer does not contain {urn}: {reason}" for urn, reason in sorted(notices.items())]
    if contents.unsearched:
        count = counted(contents.unsearched, "record")
        texts.append(f"{count} of this version cannot be read, and may refer to these artefacts")
    lacking = tuple(each for each in artefacts if each.urn in refused)
    return WrittenMessage(with_notices(data, texts, format_) if texts else data, len(notices), lacking)


def _refused(artefacts: list[Artefact], format_: Format) -> dict[Urn, str]:
    reasons = ((artefact.urn, explain_unwritable(artefact, format_)) for artefact in artefacts)
    return {urn: reason for urn, reason in reasons if reason is not None}


def _unreadable(contents: Contents) -> Rejection:
    urn, error = next(iter(contents.errors.items()))
    rejected = unreadable if isinstance(error, MessageError) else semantic_error
    return rejected(f"{urn} exists, but cannot be returned: {error}")
