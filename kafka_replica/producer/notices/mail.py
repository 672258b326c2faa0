"""Mails to administrators when a producer suspends itself, or cannot send to Kafka for a while."""

from __future__ import annotations

import logging
import smtplib
import socket
import ssl
from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import Literal

import tenacity

from kafka_replica.common.secret_values import Secret, without_frames
from kafka_replica.producer.notices.notices import Notice, Retry, Suspension

_log = logging.getLogger("kafka_replica.producer")
_MAILED_ATTEMPT = 4  # consecutive failures before a mail is sent; a restart of a broker may cause fewer
_NOT_ENCODED = "the host, the user, the password or an address has characters or a length that are not possible"
_MEANINGS = {2: "it was not sent", 3: "Kafka refused it", 4: "unexpected"}


@dataclass(frozen=True)
class MailSettings:
    """The mail server and the addresses of mails."""

    host: str
    """The name of the mail server."""
    to: tuple[str, ...]
    """The addresses of the administrators."""
    sender: str = "kafka-replica"
    """The address of the sender."""
    port: int = 587
    """The port of the mail server."""
    security: Literal["starttls", "tls", "none"] = "starttls"
    """``starttls`` encrypts after connecting, ``tls`` from the first byte (usually port 465), ``none`` does not."""
    user: str | None = None
    """The name to log in with; without a name the client does not log in."""
    password: str | None = field(default=None, repr=False)
    """The password of this user."""
    ca_file: str | None = None
    """A file of trusted certificates; None trusts the system's certificates."""
    timeout_s: float = 10.0
    """The timeout of the connection, and of each answer of the mail server, in seconds."""

    def __post_init__(self) -> None:
        if self.password is not None:
            object.__setattr__(self, "password", Secret(self.password))


class Mailer:
    """An observer that sends a mail for each suspension and each outage; failures to send are logged.

    Args:
        settings: the mail server and the addresses.
        producer_id: the id of the producer.
    """

    def __init__(self, settings: MailSettings, producer_id: str) -> None:
        self._settings = settings
        self._producer_id = producer_id

    def __repr__(self) -> str:
        return f"<Mailer of producer {self._producer_id} to {', '.join(self._settings.to)}>"

    def __call__(self, notice: Notice) -> None:
        """Handle a notice of the producer."""
        if isinstance(notice, Suspension):
            message = self._message("is suspended", self._suspension_text(notice))
        elif isinstance(notice, Retry) and notice.attempt == _MAILED_ATTEMPT:
            message = self._message("cannot publish", self._retry_text(notice))
        else:
            return
        again = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(OSError),  # SMTP's errors are OSErrors, too
            stop=tenacity.stop_after_attempt(3),
            wait=tenacity.wait_fixed(1),
            reraise=True,
        )
        try:
            again(self._send, message)
        except (OSError, UnicodeError) as error:
            without_frames(error)
            reason = error if isinstance(error, OSError) else _NOT_ENCODED
            _log.error("mail to %s was not sent: %s", ", ".join(self._settings.to), reason)

    def _message(self, what: str, text: str) -> EmailMessage:
        message = EmailMessage()
        message["From"] = self._settings.sender
        message["To"] = ", ".join(self._settings.to)
        message["Subject"] = f"kafka-replica: producer {self._producer_id} {what}"
        message.set_content(text)
        return message

    def _retry_text(self, notice: Retry) -> str:
        return (
            f"The producer {self._producer_id} on {socket.gethostname()} has failed {notice.attempt} times to send.\n\n"
            f"Error: {notice.reason}\n\n"
            "It retries every few seconds until it succeeds. Nothing was skipped: changes are recorded, and are "
            "sent in order as soon as Kafka accepts them. No action is needed to resume it.\n"
        )

    def _suspension_text(self, notice: Suspension) -> str:
        which = "No transaction caused this." if notice.tx_id is None else f"Transaction: {notice.tx_id}"
        meaning = _MEANINGS.get(notice.status, "")
        return (
            f"The producer {self._producer_id} on {socket.gethostname()} has been suspended by itself.\n\n"
            f"{which}\nStatus: {notice.status} ({meaning})\nError: {notice.reason}\n\n"
            "Nothing was skipped. Changes are recorded, and are sent in order once the cause is corrected and the "
            "producer is resumed, or started again:\n\n    kafka-replica producer resume --config FILE\n"
        )

    def _send(self, message: EmailMessage) -> None:
        settings = self._settings
        trust = ssl.create_default_context(cafile=settings.ca_file)
        if settings.security == "tls":
            server: smtplib.SMTP = smtplib.SMTP_SSL(
                settings.host, settings.port, timeout=settings.timeout_s, context=trust
            )
        else:
            server = smtplib.SMTP(settings.host, settings.port, timeout=settings.timeout_s)
        with server:
            if settings.security == "starttls":
                server.starttls(context=trust)
            if settings.user is not None:
                server.login(settings.user, settings.password or "")
            server.send_message(message)
