"""Receiving of a request's data within a time limit, into a file of bounded size."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import NamedTuple

from starlette.requests import ClientDisconnect, Request

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.gzip_decompressor import GzipDecompressor
from kafka_replica.server.data.multipart import FormReader, boundary_of
from kafka_replica.server.data.uploaded_file import TooLargeError, UploadedFile
from kafka_replica.server.errors.disk_space import disk_problems
from kafka_replica.server.errors.problems import Problem
from kafka_replica.server.settings import ServerSettings


class Upload(NamedTuple):
    """An uploaded file, and the names and values of its form's text fields."""

    path: Path
    fields: tuple[tuple[str, str], ...]


async def receive_upload(request: Request, folder: Path, settings: ServerSettings) -> Upload:
    """Receive the file of a request: the body, or the file of a form.

    Args:
        request: the request.
        folder: the folder for the file; nothing else may use it.
        settings: the limits.

    Raises:
        Problem: the file is too large, damaged or of an unsupported format, or does not arrive in time; or the disk is
            full.
    """
    with disk_problems({"Connection": "close"}):
        return await _receive_in_time(request, folder, settings)


async def _receive_in_time(request: Request, folder: Path, settings: ServerSettings) -> Upload:
    limit = settings.max_upload_bytes
    too_large = Problem(413, f"the data is larger than {limit} bytes, after decompression", {"Connection": "close"})
    body = request.stream()
    try:
        async with asyncio.timeout(settings.upload_timeout_s):
            try:
                if int(request.headers.get("content-length", "0")) > 2 * limit:
                    raise too_large  # without reading the body
                return await _receive(request, body, folder, limit)
            except TooLargeError as error:
                await _discard(body, limit)  # many clients read the answer only after they have sent everything
                raise too_large from error
            except OSError:
                await _discard(body, limit)
                raise
    except TimeoutError as error:
        text = f"the data did not arrive within {settings.upload_timeout_s:g} s"
        raise Problem(408, text, {"Connection": "close"}) from error
    except ClientDisconnect as error:
        raise Problem(400, "the client left before its data was complete") from error
    except DatasetError as error:
        raise Problem(422, str(error), {"Connection": "close"}) from error


async def _receive(request: Request, body: AsyncIterator[bytes], folder: Path, limit: int) -> Upload:
    boundary = boundary_of(request.headers.get("content-type", ""))
    file = UploadedFile(folder, limit)
    try:
        form = None if boundary is None else FormReader(boundary, file.write)
        write, finish = _decoded(request, file.write if form is None else form.feed, limit)
        async for piece in body:
            await asyncio.to_thread(write, piece)
        finish()
        if form is not None:
            form.finish()
        path = await asyncio.to_thread(file.finish)
    finally:
        file.close()
    fields = [] if form is None else form.fields
    return Upload(path, tuple((name, content.decode(errors="replace")) for name, content in fields))


def _decoded(
    request: Request, write: Callable[[bytes], object], limit: int
) -> tuple[Callable[[bytes], None], Callable[[], None]]:
    """Return a function that decodes the body by its ``Content-Encoding`` before it calls ``write``.

    The function raises TooLargeError if the decoded body is larger than the limit and 1 MiB for the rest of a form. The
    second function has to be called at the end of the body, and raises DatasetError if the body is not complete.

    Raises:
        Problem: 415 if the encoding is not supported.
    """
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in {"identity", "gzip", "x-gzip"}:
        raise Problem(415, f"the Content-Encoding {encoding!r} is not possible; send gzip or identity")
    gunzip = None if encoding == "identity" else GzipDecompressor()
    left = limit + (1 << 20)

    def write_decoded(data: bytes) -> None:
        nonlocal left
        for piece in (data,) if gunzip is None else gunzip.feed(data):
            left -= len(piece)
            if left < 0:
                raise TooLargeError
            write(piece)

    def finish() -> None:
        if gunzip is not None:
            gunzip.finish()

    return write_decoded, finish


async def _discard(body: AsyncIterator[bytes], limit: int) -> None:
    async for piece in body:
        limit -= len(piece)
        if limit < 0:
            return
