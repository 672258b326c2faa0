"""The pipe to the supervisor: each answer belongs to its command."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_replica.embedded.process import SupervisorProcess

pytestmark = pytest.mark.thorough


@pytest.fixture
def supervised(tmp_path: Path) -> Iterator[SupervisorProcess]:
    """Yield a supervisor."""
    made = SupervisorProcess(tmp_path, 0.0)
    yield made
    made.quit(0.0)


def test_answers_belong_to_their_commands_after_an_interrupt(
    supervised: SupervisorProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupted call leaves its answer in the pipe; later calls do not take it for theirs."""
    pid = supervised.start(["/bin/sleep", "60"], tmp_path / "log")

    def interrupted() -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patches:
        patches.setattr(supervised, "_read", interrupted)
        with pytest.raises(KeyboardInterrupt):
            supervised.exit_status()
    supervised.stop_broker(0.0)
    assert supervised.exit_status() == -signal.SIGKILL
    assert supervised.was_killed()
    assert supervised.start(["/bin/sleep", "60"], tmp_path / "log") != pid


def test_a_call_that_a_signal_interrupts_does_not_shift_later_answers(
    supervised: SupervisorProcess, tmp_path: Path
) -> None:
    """A call waits for a process that is slow to end when Ctrl-C interrupts it."""
    pid = supervised.start(["/bin/sh", "-c", "trap '' TERM; echo ready; sleep 60 & wait; wait"], tmp_path / "log")
    while "ready" not in (tmp_path / "log").read_text():
        time.sleep(0.01)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.2, signal.pthread_kill, [threading.get_ident(), signal.SIGINT])
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            supervised.stop_broker(1.0)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert supervised.exit_status() == -signal.SIGKILL
    assert supervised.start(["/bin/sleep", "60"], tmp_path / "log") != pid
