"""The log of control actions, with the person who requested each action, and its outcome."""

from __future__ import annotations

import logging
from typing import Final

CONTROL_LOGGER: Final = "kafka_replica.access.control"
_log = logging.getLogger(CONTROL_LOGGER)


def log_control(action: str, target: str, who: str, client: str, outcome: str) -> None:
    """Log an action at level INFO.

    Args:
        action: the action.
        target: the name of the controlled object.
        who: the holder of the token.
        client: the address of the client.
        outcome: the result, the reason why it failed, or that the outcome is not known yet.
    """
    _log.info("%s of %s by %s from %s: %s", action, target, *(repr(one)[1:-1] for one in (who, client, outcome)))
