"""A real mail server for tests, with TLS and a login."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

from kafka_replica.embedded.ports import choose_port
from support.core.certificates import Authority


class Inbox:
    """The administrator's mailbox, for an authorized sender."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802 - aiosmtpd's name
        """Store a message."""
        self.messages.append(message_from_bytes(envelope.content))
        return "250 OK"


@contextmanager
def mail_server(folder: Path, user: str, password: str) -> Iterator[tuple[Inbox, Controller, str]]:
    """A real mail server that requires STARTTLS and this login; the last value is a file with its authority."""

    def take(_server: Any, _session: Any, _envelope: Any, _kind: str, given: Any) -> AuthResult:
        right = isinstance(given, LoginPassword) and (given.login, given.password) == (user.encode(), password.encode())
        return AuthResult(success=right, handled=False)

    authority = Authority(folder, "ca")
    certificate = authority.issue("server", "IP:127.0.0.1")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    inbox = Inbox()
    server = Controller(
        inbox, hostname="127.0.0.1", port=choose_port(), tls_context=context, authenticator=take,
        auth_required=True, require_starttls=True,
    )  # fmt: skip
    server.start()
    try:
        yield inbox, server, str(authority.certificate)
    finally:
        server.stop()
