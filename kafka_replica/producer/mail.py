"""Mail to the administrator when a producer suspends itself."""

from __future__ import annotations

import logging
import smtplib
import socket
import ssl
from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import Literal

from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_fixed

from kafka_replica.producer.notices import Notice, Suspension
from kafka_replica.secret_values import Secret, without_frames

_log = logging.getLogger("kafka_replica.producer")
_MEANINGS = {2: "it never left this machine", 3: "Kafka refused it", 4: "unexpected"}


@dataclass(frozen=True)
class MailSettings:
    """Where mail goes, and how.

    ``security``: ``"starttls"`` (usually port 587), ``"tls"`` from the first byte (465), or ``"none"``.
    """

    host: str
    to: tuple[str, ...]
    sender: str = "kafka-replica"
    port: int = 587
    security: Literal["starttls", "tls", "none"] = "starttls"
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    ca_file: str | None = None
    """Certificates to trust, beside none: the system's are trusted where this is not given."""
    timeout_s: float = 10.0

    def __post_init__(self) -> None:
        if self.password is not None:
            object.__setattr__(self, "password", Secret(self.password))


class Mailer:
    """An observer that sends a mail for each suspension; one that cannot be sent is logged.

    Args:
        settings: where to, and how.
        producer_id: which producer's.
    """

    def __init__(self, settings: MailSettings, producer_id: str) -> None:
        self._settings = settings
        self._producer_id = producer_id

    def __repr__(self) -> str:
        return f"<Mailer of producer {self._producer_id} to {', '.join(self._settings.to)}>"

    def __call__(self, notice: Notice) -> None:
        """Takes in what a producer tells."""
        if not isinstance(notice, Suspension):
            return
        message = self._message(notice)
        again = retry_if_exception_type(OSError)  # SMTP's errors are of that kind, too
        try:
            Retrying(stop=stop_after_attempt(3), wait=wait_fixed(1), retry=again, reraise=True)(self._send, message)
        except OSError as error:
            without_frames(error)
            _log.error("mail to %s was not sent: %s", ", ".join(self._settings.to), error)

    def _message(self, notice: Suspension) -> EmailMessage:
        message = EmailMessage()
        message["From"] = self._settings.sender
        message["To"] = ", ".join(self._settings.to)
        message["Subject"] = f"kafka-replica: producer {self._producer_id} is suspended"
        which = "No transaction is to blame." if notice.tx_id is None else f"Transaction: {notice.tx_id}"
        meaning = _MEANINGS.get(notice.status, "")
        message.set_content(
            f"The producer {self._producer_id} on {socket.gethostname()} has suspended itself.\n\n"
            f"{which}\nStatus: {notice.status} ({meaning})\nError: {notice.reason}\n\n"
            "Nothing was skipped. Changes are recorded, and are sent in order once the cause is mended and the "
            "producer is resumed:\n\n    kafka-replica producer resume --config FILE\n"
        )
        return message

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
