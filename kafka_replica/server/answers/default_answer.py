"""The answers of the SDMX REST API, including answers from earlier versions (``asOf``)."""

from __future__ import annotations

from typing import Literal, cast

from kafka_replica.sdmx import Structures
from kafka_replica.sdmx.writing.message_writer import MessageWriter
from kafka_replica.server.answers.versions import ServedVersion, Versions
from kafka_replica.server.rest import RestAnswer, RestRequest, RestSettings, answer
from kafka_replica.server.settings import ServerSettings


class DefaultAnswer:
    """The function that answers requests for structures. Thread-safe.

    Args:
        versions: the versions that ``asOf`` can name.
        settings: the settings of the app.
    """

    def __init__(self, versions: Versions, settings: ServerSettings) -> None:
        self._versions = versions
        self._settings = RestSettings(
            empty_status=cast("Literal[204, 404]", settings.empty_status),
            max_bytes=settings.max_response_bytes,
            write=MessageWriter(settings.written_bytes).write,
        )

    def __call__(self, request: RestRequest, structures: Structures) -> RestAnswer:
        """Return the answer from the given version, or from the version that ``asOf`` names.

        In the second case, the headers of the answer name the version.
        """
        past: list[ServedVersion] = []

        def version_at(text: str) -> Structures:
            past.append(self._versions.as_of(text))
            return past[0].structures

        made = answer(request, structures, self._settings._replace(version_at=version_at))
        if not past:
            return made
        return made._replace(headers=(*made.headers, *past[0].headers.items()))
