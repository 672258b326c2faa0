"""Processing of requests with data: each uses one version, a temporary folder, and one of a few threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import BoundedSemaphore
from typing import Any, Final, TypeAlias

from starlette.requests import Request

from kafka_replica.data.errors import DatasetError, NotInvertibleError
from kafka_replica.errors import KafkaReplicaError, MissingExtraError, UsageError
from kafka_replica.sdmx.errors import ArtefactNotFoundError, UrnError
from kafka_replica.server.answers.file_response import FileResponse
from kafka_replica.server.answers.threads import DaemonThreads
from kafka_replica.server.answers.versions import ServedVersion, VersionId, Versions, version_headers
from kafka_replica.server.data.accepting import NotAcceptableError
from kafka_replica.server.data.content import Content
from kafka_replica.server.data.processing import local_engine
from kafka_replica.server.errors.disk_space import disk_problems
from kafka_replica.server.errors.problems import Problem, busy
from kafka_replica.server.settings import ServerSettings
from kafka_replica.server.uploads.receiving import Upload, receive_upload

Compute: TypeAlias = Callable[[Upload, ServedVersion, Path], Content]
"""A function that computes an answer from an upload and a version, and may write files to a folder."""

_STATUSES: Final = (
    (MissingExtraError, 501), (ArtefactNotFoundError, 404), (UrnError, 400), ((DatasetError, NotInvertibleError), 422),
    (UsageError, 400), (KafkaReplicaError, 422),
)  # fmt: skip


class DataRequests:
    """Receives uploaded data, and answers with the results of functions of the data.

    Args:
        versions: the versions of the replica.
        settings: the limits.
    """

    def __init__(self, versions: Versions, settings: ServerSettings) -> None:
        self._versions = versions
        self._settings = settings
        self._slots = BoundedSemaphore(settings.max_uploads)
        self._threads = DaemonThreads(settings.data_threads, "kafka_replica data")

    def close(self) -> None:
        """Cancel the work that is waiting for a thread. Idempotent."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def respond(self, request: Request, wanted: VersionId | None, compute: Compute) -> FileResponse:
        """Answer with the result of a function of the uploaded data.

        Args:
            request: the request.
            wanted: the version to use; None for the current version.
            compute: the function, which runs in a thread.

        Raises:
            Problem: the request cannot be answered; 503 if too many requests are in progress, 507 if the disk is full.
        """
        self._versions.snapshot(wanted)  # to report a missing version before the data is received
        with as_problems({}):
            local_engine()
        if not self._slots.acquire(blocking=False):
            raise busy(f"{self._settings.max_uploads} requests with data are in progress")
        try:
            with disk_problems():
                folder = TemporaryDirectory(prefix="kafka-replica-", ignore_cleanup_errors=True)
        except BaseException:
            self._slots.release()
            raise
        job: Future[tuple[Content, dict[str, str]]] | None = None

        def release() -> None:
            folder.cleanup()
            self._slots.release()

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
        """Return the result of a job. Raises Problem if the client disconnects, or the job takes too long."""
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
        with disk_problems(headers), as_problems(headers, out.parent):
            out.mkdir()
            content = compute(upload, served, out)
        if content.size > self._settings.max_response_bytes:
            raise Problem(
                413, f"the answer is larger than {self._settings.max_response_bytes} bytes; send less", headers
            )
        return content, headers


@contextmanager
def as_problems(headers: Mapping[str, str], folder: Path | None = None) -> Iterator[None]:
    """Translate errors within the block into problems, without the path of the job's folder.

    Args:
        headers: the headers that name the version.
        folder: the folder of the job; None if there is none yet.
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
        raise RuntimeError("the engine failed") from error  # a panic of polars is not an Exception


async def _disconnection(request: Request) -> None:
    """Wait until the client has disconnected."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
