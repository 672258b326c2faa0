"""No process and no folder stays, however the process that started a broker ends."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from kafka_replica.embedded import LocalKafka, ensure_kafka
from kafka_replica.embedded.errors import EmbeddedKafkaError
from support.effort import first_in_usual

pytestmark = pytest.mark.broker

_CHILD = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
from kafka_replica.embedded import LocalKafka, ensure_kafka
kafka = LocalKafka().start()
print(kafka.pid, kafka.supervisor_pid, kafka.data_dir, flush=True)
sys.stdin.readline()  # until its processes have been found
"""


def start_child(then: str) -> tuple[subprocess.Popen[str], list[psutil.Process], Path]:
    """A Python that starts a broker and then does something; its broker's processes and folder."""
    child = subprocess.Popen(
        [sys.executable, "-c", _CHILD + then], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        pid, supervisor_pid, folder = child.stdout.readline().split()
        supervisor = psutil.Process(int(supervisor_pid))
        processes = [supervisor, *supervisor.children()]
        assert int(pid) in {process.pid for process in processes}
        assert Path(folder).is_dir()
        child.stdin.write("\n")
        child.stdin.close()
    except BaseException:
        child.kill()
        child.communicate()
        raise
    child.stdin = None
    return child, processes, Path(folder)


def assert_gone(processes: list[psutil.Process], folder: Path) -> None:
    """Wait at most 30 s for the end of all processes and the folder."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        left = [p for p in processes if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]
        if not left and not folder.exists():
            return
        time.sleep(0.05)
    pytest.fail(f"left behind: {left}, folder there: {folder.exists()}")


@pytest.mark.parametrize("number", first_in_usual([signal.SIGKILL, signal.SIGTERM, signal.SIGINT], 1))
def test_after_a_signal(number: signal.Signals) -> None:
    """A killed, terminated or interrupted parent takes its broker with it."""
    child, processes, folder = start_child("time.sleep(60)")
    child.send_signal(number)
    child.communicate(timeout=60)
    assert_gone(processes, folder)


def test_after_kill_9_while_a_forked_child_lives() -> None:
    """A fork holds the pipe open, so that its end alone would not show the parent's death."""
    child, processes, folder = start_child("os.fork()\ntime.sleep(120)")
    deadline = time.monotonic() + 30
    while not (fork := set(psutil.Process(child.pid).children()) - set(processes)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    child.kill()
    child.wait(60)
    assert_gone(processes, folder)
    for process in fork:
        if process.is_running():
            process.kill()
    assert child.stdout is not None
    child.stdout.close()


@pytest.mark.parametrize("then", first_in_usual(["os._exit(0)", "", "sys.exit(3)", "raise RuntimeError('planned')"], 1))
def test_after_an_exit_without_stop(then: str) -> None:
    """Leaving Python in any way stops the broker."""
    child, processes, folder = start_child("sys.stderr.close()\n" + then)
    child.communicate(timeout=60)
    assert_gone(processes, folder)


def test_after_the_death_of_the_supervisor() -> None:
    """If the supervisor is killed, the last guard ends the broker; the owner gets an error on the next call."""
    kafka = LocalKafka().start()
    supervisor = psutil.Process(kafka.supervisor_pid)
    processes, folder = [supervisor, *supervisor.children()], kafka.data_dir
    supervisor.kill()
    assert_gone(processes, folder)
    with pytest.raises(EmbeddedKafkaError, match="has ended"):
        kafka.restart()
    kafka.stop()


@pytest.mark.long
def test_after_an_exception_in_the_block() -> None:
    """The with block cleans up and lets the exception through."""
    seen = []

    def use() -> None:
        with LocalKafka() as kafka:
            supervisor = psutil.Process(kafka.supervisor_pid)
            seen.append(([supervisor, *supervisor.children()], kafka.data_dir))
            raise RuntimeError("planned")

    with pytest.raises(RuntimeError, match="planned"):
        use()
    assert not seen[0][1].exists()
    assert_gone(*seen[0])


@pytest.mark.long
def test_an_object_forgotten() -> None:
    """A LocalKafka that is no longer referred to is stopped."""
    kafka = LocalKafka().start()
    supervisor = psutil.Process(kafka.supervisor_pid)
    processes, folder = [supervisor, *supervisor.children()], kafka.data_dir
    del kafka
    assert_gone(processes, folder)


def test_a_forked_child_leaves_the_broker_alone(local_kafka: LocalKafka) -> None:
    """A forked child that uses its copy of the object does not affect its parent's broker."""
    kafka = local_kafka if isinstance(local_kafka, LocalKafka) else pytest.skip("an outside broker is used")
    child = os.fork()
    if child == 0:
        try:
            kafka.stop()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert kafka.is_running()


_FIRST_USE = "from kafka_replica.embedded.__main__ import main; import sys; sys.argv[1:] = ['fetch']; main()"


def is_broker(process: psutil.Process) -> bool:
    """Return whether a process is a running broker."""
    with contextlib.suppress(psutil.Error):
        return "kafka.Kafka" in process.cmdline()
    return False


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_after_a_signal_during_the_first_use(number: signal.Signals, mirror: Path) -> None:
    """The broker that runs once to prepare quick starts ends with its parent; the next use removes its folder."""
    folder = ensure_kafka().folder
    child = subprocess.Popen([sys.executable, "-c", _FIRST_USE], stdout=subprocess.DEVNULL)
    try:
        processes: list[psutil.Process] = []
        deadline = time.monotonic() + 60
        while not any(map(is_broker, processes)):
            assert time.monotonic() < deadline
            time.sleep(0.05)
            processes = psutil.Process(child.pid).children(recursive=True)
        child.send_signal(number)
    except BaseException:
        child.kill()
        raise
    finally:
        child.wait(60)
    assert_gone(processes, folder / "no folder")
    assert list(folder.glob("training-*"))
    subprocess.run([sys.executable, "-c", _FIRST_USE], stdout=subprocess.DEVNULL, check=True)
    assert not list(folder.glob("training-*"))
    assert len(list(folder.glob("*.classes"))) == 1
