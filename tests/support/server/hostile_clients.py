"""Clients that send nonsense, bombs and too much, or too slowly. Each attack returns the statuses that it got."""

from __future__ import annotations

import gzip
import io
import random
import re
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, Final

from support.server.data_samples import LABOUR_CSV
from support.server.server_tools import connected

Attack = Callable[[str, random.Random], list[int]]

_PATHS: Final = [
    b"/sdmx/v2/structure/*/*/*/*",
    b"/sdmx/v1/codelist/all/all/all",
    b"/sdmx/v2/structure/dataflow/*/*/~?references=all",
    b"/sdmx/v2/structure/%00",
    b"/sdmx/v2/" + b"a/" * 2000,
    b"/version/1/sdmx/v2/structure/codelist",
    b"/version/x/y",
    b"/diff/1/99999999999999999999",
    b"/history?start=-1",
    b"/sdmx/v2/schema/dataflow/KR_DEMO/LABOUR/1.0",
    b"/structures",
    b"/structures?q=" + b"%F0%9F%92%A3" * 300,
    b"/../../etc/passwd",
    b"/static/..%2f..%2f",
    b"//",
    b"/?" + b"&" * 5000,
    b"/sdmx/v2/structure/codelist/*/*/*?asOf=9999-99-99",
    b"/metrics",
    b"/upload",
    b"/health/ready",
]
_HEADERS: Final = [
    b"Accept: " + b"application/json;q=0.1," * 300,
    b"Accept: \xff",
    b"If-None-Match: " + b'"x",' * 1000,
    b"Range: bytes=0-",
    b"Accept-Encoding: gzip;q=",
    b"X-Request-ID: " + b"a" * 9000,
    b"Host: evil.example",
    b"Last-Event-ID: 1.x",
    b"Transfer-Encoding: chunked",
    b"Content-Length: 99999999999",
    b"Upgrade: websocket",
    b"Expect: 100-continue",
    b"X: " + b"y" * 70_000,
    b"Accept-Language: *",
    b"Origin: null",
    b"Content-Length: -5",
]
_TARGETS: Final = [
    b"/validate",
    b"/map",
    b"/ws/public/data/validate",
    b"/upload",
    b"/validate?structure=KR_DEMO:LABOUR(1.0)",
]
_TYPES: Final = [
    b"application/xml",
    b"text/csv",
    b"application/json",
    b"multipart/form-data; boundary=x",
    b"application/zip",
    b"\xff",
    b"application/vnd.sdmx.data+csv;version=2.0.0",
]


def _laughs(of: bytes) -> bytes:
    entities = b"".join(b'<!ENTITY e%d "%s">' % (n, b"&e%d;" % (n - 1) * 10) for n in range(1, 12))
    return b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY e0 "lol">' + entities + b"]><" + of + b">&e11;</" + of + b">"


def _zipped(data: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("data.csv", data)
    return made.getvalue()


@cache
def bodies() -> Sequence[tuple[bytes, bytes]]:
    """Return bodies with their content coding; made at first use, because each test process imports this module."""
    bomb = b"0" * 200_000_000
    return [
        (gzip.compress(bomb), b"gzip"),
        (gzip.compress(gzip.compress(bomb)), b"gzip"),
        (_zipped(bomb), b"identity"),
        (_laughs(b"message:StructureSpecificData"), b"identity"),
        (_laughs(b"html"), b"identity"),
        (b"{" * 200_000, b"identity"),
        (b'{"data":' + b"[" * 200_000, b"identity"),
        (b"<a>" * 200_000, b"identity"),
        (b"a," * 500_000, b"identity"),
        (LABOUR_CSV, b"identity"),
        (LABOUR_CSV[:-20] + b"\0\xff" * 1000, b"identity"),
        (b"", b"identity"),
        (b'"' + b"x" * 2_000_000, b"identity"),
        (b"not gzip", b"gzip"),
        (gzip.compress(LABOUR_CSV)[:-9], b"gzip"),
        (b"--x\r\n" * 50_000, b"identity"),
        (b"STRUCTURE,STRUCTURE_ID,ACTION\n" + b"dataflow,A:B(1.0),I\n" * 100_000, b"identity"),
    ]


def reads(address: str, chance: random.Random) -> list[int]:
    """Ask for odd addresses with odd headers."""
    head = b"GET " + chance.choice(_PATHS) + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    return _sent(address, head + b"".join(each + b"\r\n" for each in chance.sample(_HEADERS, 2)) + b"\r\n")


def uploads(address: str, chance: random.Random) -> list[int]:
    """Send data that expands, nests or breaks off."""
    body, coding = chance.choice(bodies())
    head = b"POST %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: %s\r\nContent-Encoding: %s\r\n"
    length = b"Content-Length: %d\r\n\r\n" % (len(body) + chance.choice([0, 0, 0, 7]))
    return _sent(address, head % (chance.choice(_TARGETS), chance.choice(_TYPES), coding) + length + body)


def too_large(address: str, chance: random.Random) -> list[int]:
    """Send more than is allowed, with an announced length and without."""
    head = b"POST " + chance.choice(_TARGETS) + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    if chance.random() < 0.5:
        return _sent(address, head + b"Content-Length: 30000000\r\n\r\n" + b"x" * 30_000_000)
    return _sent(
        address, head + b"Transfer-Encoding: chunked\r\n\r\n" + (b"100000\r\n" + b"x" * 0x100000 + b"\r\n") * 30
    )


def slow(address: str, chance: random.Random) -> list[int]:
    """Send a part of a request, or read nothing of a large answer; keep the connection until the server ends it."""
    part = chance.choice([
        b"GET /sdmx/v2/structure/*/*/*/* HTTP/1.1\r\nHost: localhost\r\n\r\n" * 200, b"GET /sd", b"",
        b"POST /validate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nSTRUC",
    ])  # fmt: skip
    with connected(address) as client:
        client.settimeout(60)
        with suppress(OSError):
            client.sendall(part)
            return _statuses(_all_of(client))
    return []


ATTACKS: Final[Sequence[Attack]] = (*[reads] * 16, uploads, uploads, uploads, slow, too_large)


def _sent(address: str, data: bytes) -> list[int]:
    with connected(address) as client:
        client.settimeout(60)
        with suppress(OSError):  # the server may refuse before it has read everything
            client.sendall(data)
        with suppress(OSError):
            return _statuses(_all_of(client))
    return []


def _all_of(client: Any) -> bytes:
    found: list[bytes] = []
    recv = client.recv
    while chunk := recv(1 << 20):
        found.append(chunk[:4096] if len(found) > 20 else chunk)  # the rest of a large answer tells nothing more
    return b"".join(found)


def _statuses(answer: bytes) -> list[int]:
    return [int(status) for status in re.findall(rb"(?:^|\r\n|[}>\n])HTTP/1\.1 (\d{3}) ", answer)]
