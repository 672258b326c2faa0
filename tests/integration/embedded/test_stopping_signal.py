"""A frozen process has stopped when the call returns, on a busy machine, too."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_replica.embedded.supervisor import Supervisor

WITH_THREADS = """
import threading, time
for _ in range(3):
    threading.Thread(target=lambda: [time.sleep(0.001) for _ in iter(int, 1)], daemon=True).start()
print("running", flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="processors are chosen as on Linux")
def test_a_stop_signal_is_processed_while_other_threads_are_busy(tmp_path: Path) -> None:
    """The thread that has to process the signal hardly gets a processor; the other threads run meanwhile."""
    cpu = min(os.sched_getaffinity(0))
    supervisor = Supervisor(tmp_path, temporary=False, parent=os.getppid(), grace_s=0.0)
    supervisor.start([sys.executable, "-c", WITH_THREADS], str(tmp_path / "log"))
    assert supervisor.broker is not None
    pid = supervisor.broker.pid
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        try:
            while "running" not in (tmp_path / "log").read_text():
                assert supervisor.broker.poll() is None
            os.sched_setaffinity(busy.pid, {cpu})
            os.sched_setaffinity(pid, {cpu})
            os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))
            for _ in range(20):
                supervisor.execute({"do": "signal", "signal": signal.SIGSTOP})
                assert _states(pid) == {"T"}
                assert supervisor.execute({"do": "signal", "signal": signal.SIGSTOP})["exit"] is None
                supervisor.execute({"do": "signal", "signal": signal.SIGCONT})
        finally:
            busy.kill()
            supervisor.end_broker(0.0)
            with supervisor.guard:
                supervisor.write_to_guard("bye")


def _states(pid: int) -> set[str]:
    threads = Path(f"/proc/{pid}/task").iterdir()
    return {(thread / "stat").read_text().rpartition(")")[2].split()[0] for thread in threads}
