"""The routes that validate and map uploaded data: each request works with one version, in a folder of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import BoundedSemaphore
from typing import Any, Final, TypeAlias

from starlette.requests import Request

from kafka_replica.data.errors import DatasetError, NotInvertibleError
from kafka_replica.errors import KafkaReplicaError, MissingExtraError, UsageError
from kafka_replica.sdmx import Structures
from kafka_replica.sdmx.errors import ArtefactNotFoundError, UrnError
from kafka_replica.server.data.accepting import NotAcceptableError, chosen_format
from kafka_replica.server.data.answers import MAP_FORMATS, REPORT_FORMATS, map_answer, validation_answer
from kafka_replica.server.data.content import Content
from kafka_replica.server.data.fmr import fmr_answer, fmr_error, fmr_request
from kafka_replica.server.data.options import MAP_OPTIONS, VALIDATE_OPTIONS, options_of
from kafka_replica.server.data.processing import map_file, the_engine, validate_file
from kafka_replica.server.file_response import FileResponse
from kafka_replica.server.problems import Problem, busy
from kafka_replica.server.settings import ServerSettings
from kafka_replica.server.threads import DaemonThreads
from kafka_replica.server.uploads import Upload, receive_upload
from kafka_replica.server.versions import VersionId, Versions, version_headers

Compute: TypeAlias = Callable[[Upload, Structures, Path], Content]
"""A function that makes an answer from an upload and structures, and may write files to a folder."""

_STATUSES: Final = (
    (MissingExtraError, 501), (ArtefactNotFoundError, 404), (UrnError, 400), ((DatasetError, NotInvertibleError), 422),
    (UsageError, 400), (KafkaReplicaError, 422),
)  # fmt: skip


class DataRoutes:
    """The endpoints that take data.

    Args:
        versions: the versions to work with.
        settings: the limits.
    """

    def __init__(self, versions: Versions, settings: ServerSettings) -> None:
        self._versions = versions
        self._settings = settings
        self._places = BoundedSemaphore(settings.max_uploads)
        self._threads = DaemonThreads(settings.data_threads, "kafka_replica data")

    async def validate(self, request: Request) -> FileResponse:
        """Answer with the report of uploaded data."""
        return await self._respond(request, partial(_validated, request))

    async def map(self, request: Request) -> FileResponse:
        """Answer with mapped data."""
        return await self._respond(request, partial(_mapped, request))

    async def validate_like_fmr(self, request: Request) -> FileResponse:
        """Answer as Fusion Metadata Registry does."""
        try:
            return await self._respond(request, partial(_validated_like_fmr, request))
        except Problem as problem:
            if problem.status_code not in {400, 404, 415, 422}:
                raise
            return FileResponse(fmr_error(400, problem.detail), dict(problem.headers or {}), _nothing)

    def close(self) -> None:
        """Cancel what is waiting for a thread. Idempotent."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _respond(self, request: Request, compute: Compute) -> FileResponse:
        wanted = _wanted(request)
        self._versions.snapshot(wanted)  # a version that is missing is an error before the data is received
        with _as_problems({}):
            the_engine()
        if not self._places.acquire(blocking=False):
            raise busy(f"{self._settings.max_uploads} requests with data are in progress")
        folder = TemporaryDirectory(prefix="kafka-replica-", ignore_cleanup_errors=True)
        job: Future[tuple[Content, dict[str, str]]] | None = None

        def release() -> None:
            folder.cleanup()
            self._places.release()

        try:
            upload = await receive_upload(request, Path(folder.name), self._settings)
            job = self._threads.submit(self._compute, upload, wanted, compute)
            content, headers = await self._result(request, job)
        except BaseException:
            if job is None:
                release()
            else:  # a running job still uses the folder and its thread
                job.cancel()
                job.add_done_callback(lambda _job: release())
            raise
        return FileResponse(content, {**headers, **self._versions.state_headers()}, release)

    async def _result(
        self, request: Request, job: Future[tuple[Content, dict[str, str]]]
    ) -> tuple[Content, dict[str, str]]:
        """Return the result of a job, unless the client leaves or it takes too long."""
        result, gone = asyncio.wrap_future(job), asyncio.ensure_future(_disconnection(request))
        events: set[asyncio.Future[Any]] = {result, gone}
        try:
            timeout_s = self._settings.data_timeout_s
            await asyncio.wait(events, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
            if result.done():
                return result.result()
            if gone.done():
                raise Problem(400, "the client left before its answer")
            raise busy(f"the answer took longer than {timeout_s:g} s")
        finally:
            result.cancel()
            gone.cancel()

    def _compute(self, upload: Upload, wanted: VersionId | None, compute: Compute) -> tuple[Content, dict[str, str]]:
        served = self._versions.current() if wanted is None else self._versions.at(wanted)
        headers = version_headers(self._versions.id_of(served.snapshot), served.snapshot.position)
        out = upload.path.with_name("out")
        out.mkdir()
        with _as_problems(headers, out.parent):
            content = compute(upload, served.structures, out)
        if content.size > self._settings.max_answer_bytes:
            raise Problem(413, f"the answer is larger than {self._settings.max_answer_bytes} bytes; send less", headers)
        return content, headers


def _validated(request: Request, upload: Upload, structures: Structures, out: Path) -> Content:
    options = options_of([*request.query_params.multi_items(), *upload.fields], VALIDATE_OPTIONS)
    format_name = chosen_format(_accept(request), options.format, REPORT_FORMATS)
    return validation_answer(validate_file(upload.path, options, structures, out).outcome, out, format_name)


def _mapped(request: Request, upload: Upload, structures: Structures, out: Path) -> Content:
    options = options_of([*request.query_params.multi_items(), *upload.fields], MAP_OPTIONS)
    format_name = chosen_format(_accept(request), options.format, MAP_FORMATS)
    return map_answer(map_file(upload.path, options, structures, out).outcome, out, format_name)


def _validated_like_fmr(request: Request, upload: Upload, structures: Structures, out: Path) -> Content:
    asked = fmr_request(request.headers)
    return fmr_answer(asked, validate_file(upload.path, asked.options, structures, out), upload.path, out)


@contextmanager
def _as_problems(headers: Mapping[str, str], folder: Path | None = None) -> Iterator[None]:
    """Report errors as problems, without paths of this machine.

    Args:
        headers: the headers that name the version.
        folder: the folder of the job.
    """
    try:
        yield
    except NotAcceptableError as error:
        raise Problem(406, str(error), dict(headers)) from error
    except KafkaReplicaError as error:
        status = next(status for kinds, status in _STATUSES if isinstance(error, kinds))
        detail = str(error) if folder is None else str(error).replace(f"{folder}/", "")
        raise Problem(status, detail, dict(headers)) from error
    except BaseException as error:
        if isinstance(error, Exception):
            raise
        raise RuntimeError("the engine failed") from error  # polars reports its own mistakes as no Exception


def _wanted(request: Request) -> VersionId | None:
    """Return the version in the path; None if the path names none."""
    text = request.path_params.get("version")
    wanted = None if text is None else VersionId.parse(text)
    if text is not None and wanted is None:
        raise Problem(404, "a pinned path names a version: /version/17/validate or /version/17.INCARNATION/validate")
    return wanted


def _accept(request: Request) -> str:
    return ", ".join(request.headers.getlist("accept"))


async def _disconnection(request: Request) -> None:
    """Wait until the client has left."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _nothing() -> None:
    """Do nothing."""
