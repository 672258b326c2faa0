"""Mails that cannot be sent: the log says so, and the producer continues."""

from __future__ import annotations

import pytest

from kafka_replica.producer.notices.mail import Mailer, MailSettings
from kafka_replica.producer.notices.notices import Suspension


@pytest.mark.parametrize("host", [".example.org", "a" * 64])
def test_a_mail_server_whose_name_no_host_can_have(host: str, caplog: pytest.LogCaptureFixture) -> None:
    """Python does not even look the name up, and raises an error that is not an OSError."""
    Mailer(MailSettings(host, ("admin@example.org",)), "structures")(Suspension(17, 3, "Kafka says no"))
    (record,) = caplog.records
    assert record.getMessage().startswith("mail to admin@example.org was not sent: the host, the user")
