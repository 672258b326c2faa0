"""The demonstration of the directory, with a function per part; each claim is verified before it is printed."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import Any

from kafka_replica import Replica
from kafka_replica.demo.lookups import LookUps
from kafka_replica.demo.scene import Scene, Terminal, own_server, terminals_topic
from kafka_replica.demo.stage import DemoError, Stage, expect, wait_until
from kafka_replica.demo.terminals import TerminalTable, terminal_id
from kafka_replica.directories import Directory
from kafka_replica.embedded import kafka_for
from kafka_replica.producer.postgres import TableSource, TableSourceSettings

_LONG_S = 60.0
_TOGETHER = 100


def run_story(database: str | None, bootstrap_server: str | None, rows: int, seconds: float) -> None:
    """Run the whole demonstration.

    Args:
        database: the connection URI of an existing PostgreSQL; None starts a server.
        bootstrap_server: the address of an existing Kafka; None starts a broker.
        rows: the number of objects in the directory.
        seconds: the duration of each of the longer parts, in seconds.

    Raises:
        KafkaReplicaError: a part failed, or had an unexpected result.
    """
    if rows <= _TOGETHER:
        raise DemoError(f"the demonstration changes {_TOGETHER} rows at once: give --rows more than {_TOGETHER}")
    began_s, stage = time.monotonic(), Stage()
    with ExitStack() as stack:
        stage.chapter("PostgreSQL and a Kafka broker")
        server = None if database else stack.enter_context(own_server())
        table = TerminalTable(database or (server.default_url if server else ""))
        stage.say(
            "PostgreSQL is reachable" if database else f"PostgreSQL listens at 127.0.0.1:{server.port if server else 0}"
        )
        with stage.waiting("starting Kafka (45 MB are downloaded the first time)") as update:
            kafka = kafka_for(bootstrap_server, progress=update).start()
        stack.callback(kafka.stop)
        stage.say(f"Apache Kafka listens at {kafka.bootstrap_servers}")
        config: dict[str, Any] = {"bootstrap.servers": kafka.bootstrap_servers, "log_level": 0}
        topic = stack.enter_context(terminals_topic(kafka, config))
        stage.chapter("A table in PostgreSQL, with a constraint, triggers and functions")
        stack.enter_context(table.created(rows, drop=server is None))
        stage.say(f"{rows:,} terminals in the table terminal_acquirer")
        settings = TableSourceSettings(
            table.url, table.name, topic, "terminal_id", config, timestamp_column="updated_at",
            incrementing_column="id", active_column="is_active", camel_case=True,
        )  # fmt: skip
        scene = Scene(stage, table, server, settings)
        stack.callback(scene.close)
        _copy(scene, rows)
        replica = stack.enter_context(Replica(config, topic))
        terminals = _make_directory(scene, replica, rows)
        with LookUps(lambda key: terminals[key], [terminal_id(number) for number in range(2, rows + 1)]) as look_ups:
            _change(scene, terminals, look_ups, seconds)
            _stop(scene, look_ups, seconds)
            _return(scene, terminals, look_ups, rows)
        _summarize(scene, terminals, look_ups, time.monotonic() - began_s)


def _copy(scene: Scene, rows: int) -> None:
    scene.stage.chapter("Copy the table to a topic: kafka-replica source run")
    began_s = time.monotonic()
    scene.source.start()
    wait_until(lambda: scene.notices.records == rows or scene.source.failure, "the table was not copied", _LONG_S)
    expect(scene.source.failure is None, f"the source has failed: {scene.source.failure}")
    scene.note("the table was copied, in one Kafka transaction", f"{time.monotonic() - began_s:.1f} s")


def _make_directory(scene: Scene, replica: Replica, rows: int) -> Directory[str, Terminal]:
    scene.stage.chapter("Read the topic as objects: Directory(replica, Terminal)")
    began_s = time.monotonic()
    terminals = Directory(replica, Terminal)
    terminals.wait_ready(timeout_s=_LONG_S)
    # Kafka acknowledges a commit shortly before readers can see it.
    wait_until(lambda: len(terminals) > 0, "the committed rows cannot be seen", _LONG_S)
    scene.note(f"{len(terminals):,} objects are ready", f"{time.monotonic() - began_s:.2f} s")
    expect(len(terminals) == rows, f"the directory has {len(terminals)} of {rows} terminals")
    one = terminal_id(rows // 2)
    same = terminals[one].acquirer_id == scene.table.acquirer_of(one)
    expect(same, f"the acquirer of {one} is not that of the database")
    scene.stage.say(f'terminals["{one}"].acquirer_id is {terminals[one].acquirer_id}, as in the database')
    return terminals


def _change(scene: Scene, terminals: Directory[str, Terminal], look_ups: LookUps, seconds: float) -> None:
    scene.stage.chapter("Look up objects while rows change")
    rate = look_ups.show(scene.stage, seconds, lambda: "nothing changes")
    scene.note("look-ups per second, in one thread", f"{rate:,.0f}")
    took_s = []
    for number in range(6):
        acquirer = f"ACQ-{100 + number}"
        scene.table.move(2, _TOGETHER, acquirer)
        took_s.append(_seen_together(terminals, acquirer) if number else _seen(terminals, acquirer))
    took_s.pop(0)  # the acquirers differed before the first change
    scene.note(
        f"{_TOGETHER} rows changed in one transaction were visible, all at once, after",
        f"{sorted(took_s)[2] * 1000:.0f} ms (median)",
    )
    scene.table.close_terminal(1)
    wait_until(lambda: terminal_id(1) not in terminals, "the inactive terminal is still there", _LONG_S)
    scene.stage.say("a terminal became inactive: its key was deleted")
    with scene.table.late_commit(2, "ACQ-200"):
        scene.table.move(3, 1, "ACQ-201")
        wait_until(lambda: terminals[terminal_id(3)].acquirer_id == "ACQ-201", "the newer row was not seen", _LONG_S)
    _seen(terminals, "ACQ-200")
    scene.stage.say("a row that was committed after a newer row had been copied is visible, too")


def _seen_together(terminals: Directory[str, Terminal], acquirer: str) -> float:
    """Wait until 100 terminals have an acquirer, and check that they change together; return the time in seconds."""

    def have_it() -> bool:
        view = terminals.view()
        found = {view[terminal_id(number)].acquirer_id for number in range(2, 2 + _TOGETHER)}
        expect(len(found) == 1, f"a version has a part of a transaction: {found}")
        return found == {acquirer}

    return wait_until(have_it, "the change was not seen", _LONG_S)


def _seen(terminals: Directory[str, Terminal], acquirer: str) -> float:
    """Wait until the second terminal has an acquirer; return the time in seconds."""
    second = terminal_id(2)
    return wait_until(lambda: terminals[second].acquirer_id == acquirer, "the change was not seen", _LONG_S)


def _stop(scene: Scene, look_ups: LookUps, seconds: float) -> None:
    if scene.server is not None:
        scene.stage.chapter("Stop the database; look-ups continue")
        scene.server.kill()
        wait_until(lambda: scene.notices.outage, "the source did not notice the outage", _LONG_S)
        scene.stage.say(f"[dim]the source reports: {scene.notices.outage}[/]")
        rate = look_ups.show(scene.stage, seconds, lambda: "the database is down")
        scene.note("look-ups per second without the database", f"{rate:,.0f}")
    else:
        scene.stage.chapter("Stop the source (the database belongs to somebody else); look-ups continue")
        scene.source.close()
        rate = look_ups.show(scene.stage, seconds, lambda: "no source is running")
        scene.note("look-ups per second without the source", f"{rate:,.0f}")
    expect(look_ups.failure is None, f"a look-up failed: {look_ups.failure}")


def _return(scene: Scene, terminals: Directory[str, Terminal], look_ups: LookUps, rows: int) -> None:
    scene.stage.chapter("Start it again; changes arrive")
    began_s = time.monotonic()
    if scene.server is not None:
        scene.server.start()
        scene.table.move(2, rows // 10, "ACQ-300")
    else:
        scene.table.move(2, rows // 10, "ACQ-300")
        scene.source = TableSource(scene.settings, observers=[scene.notices]).start()
    _seen(terminals, "ACQ-300")
    scene.note(f"{rows // 10:,} changes were visible after the start", f"{time.monotonic() - began_s:.1f} s")
    expect(look_ups.failure is None, f"a look-up failed: {look_ups.failure}")


def _summarize(scene: Scene, terminals: Directory[str, Terminal], look_ups: LookUps, took_s: float) -> None:
    scene.stage.chapter("Summary")
    found = {each.terminal_id: each.acquirer_id for each in terminals.view().values()}
    expect(found == scene.table.active(), "the directory differs from the table")
    scene.note("objects in the directory, equal to the rows of the table", f"{len(found):,}")
    scene.note("look-ups, none of which failed", f"{look_ups.count:,}")
    scene.stage.table(("", ""), scene.results)
    scene.stage.say(f"\n   [bold green]Each step had the expected result[/], in {took_s:.0f} s.")
