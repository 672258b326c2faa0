"""The demonstration of the directory, one function for each part; each statement is verified before it is printed."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import Any

from kafka_replica import Replica
from kafka_replica.demo.context import DemoContext, Terminal, own_server, terminals_topic
from kafka_replica.demo.lookups import LookUps
from kafka_replica.demo.output import DemoError, DemoOutput, expect, wait_until
from kafka_replica.demo.terminals import TerminalTable, terminal_id
from kafka_replica.directories import Directory
from kafka_replica.embedded import kafka_for
from kafka_replica.producer.postgres import TableSource, TableSourceSettings

_TIMEOUT_S = 60.0
_ROWS_TOGETHER = 100


def run_directory_demo(database: str | None, bootstrap_server: str | None, rows: int, seconds: float) -> None:
    """Run the whole demonstration.

    Args:
        database: the connection URI of an existing PostgreSQL; None starts a server.
        bootstrap_server: the address of an existing Kafka; None starts a broker.
        rows: the number of objects in the directory.
        seconds: the duration of each of the longer parts, in seconds.

    Raises:
        KafkaReplicaError: a part failed, or had an unexpected result.
    """
    if rows <= _ROWS_TOGETHER:
        raise DemoError(
            f"the demonstration changes {_ROWS_TOGETHER} rows together: give --rows more than {_ROWS_TOGETHER}"
        )
    began_s = time.monotonic()
    with ExitStack() as stack:
        context = _prepare(stack, database, bootstrap_server, rows)
        _copy_table(context, rows)
        replica = stack.enter_context(Replica(context.settings.kafka, context.settings.topic))
        terminals = _make_directory(context, replica, rows)
        with LookUps(lambda key: terminals[key], [terminal_id(number) for number in range(2, rows + 1)]) as look_ups:
            _change_rows(context, terminals, look_ups, seconds)
            _stop_database(context, look_ups, seconds)
            _start_again(context, terminals, look_ups, rows)
        _print_summary(context, terminals, look_ups, time.monotonic() - began_s)


def _prepare(stack: ExitStack, database: str | None, bootstrap_server: str | None, rows: int) -> DemoContext:
    """Start the servers that are not given, and create the table and the topic; ``stack`` removes them at the end."""
    output = DemoOutput()
    output.begin_part("PostgreSQL and a Kafka broker")
    server = None if database else stack.enter_context(own_server())
    table = TerminalTable(database or (server.default_url if server else ""))
    output.print(
        "PostgreSQL is reachable" if database else f"PostgreSQL listens at 127.0.0.1:{server.port if server else 0}"
    )
    with output.waiting("starting Kafka (45 MB are downloaded the first time)") as update:
        kafka = kafka_for(bootstrap_server, progress=update).start()
    stack.callback(kafka.stop)
    output.print(f"Apache Kafka listens at {kafka.bootstrap_servers}")
    config: dict[str, Any] = {"bootstrap.servers": kafka.bootstrap_servers, "log_level": 0}
    topic = stack.enter_context(terminals_topic(kafka, config))
    output.begin_part("A table in PostgreSQL, with a constraint, triggers and functions")
    stack.enter_context(table.created(rows, drop=server is None))
    output.print(f"{rows:,} terminals in the table terminal_acquirer")
    settings = TableSourceSettings(
        table.url, table.name, topic, "terminal_id", config, timestamp_column="updated_at",
        incrementing_column="id", active_column="is_active", camel_case=True,
    )  # fmt: skip
    context = DemoContext(output, table, server, settings)
    stack.callback(context.close)
    return context


def _copy_table(context: DemoContext, rows: int) -> None:
    context.output.begin_part("Copy the table to a topic: kafka-replica source run")
    began_s = time.monotonic()
    context.source.start()
    wait_until(
        lambda: context.notices.records == rows or context.source.failure, "the table was not copied", _TIMEOUT_S
    )
    expect(context.source.failure is None, f"the source has failed: {context.source.failure}")
    context.record_result("the table was copied, in one Kafka transaction", f"{time.monotonic() - began_s:.1f} s")


def _make_directory(context: DemoContext, replica: Replica, rows: int) -> Directory[str, Terminal]:
    context.output.begin_part("Read the topic as objects: Directory(replica, Terminal)")
    began_s = time.monotonic()
    terminals = Directory(replica, Terminal)
    terminals.wait_ready(timeout_s=_TIMEOUT_S)
    # Kafka acknowledges a commit shortly before readers can see it.
    wait_until(lambda: len(terminals) > 0, "the committed rows cannot be seen", _TIMEOUT_S)
    context.record_result(f"{len(terminals):,} objects are ready", f"{time.monotonic() - began_s:.2f} s")
    expect(len(terminals) == rows, f"the directory has {len(terminals)} of {rows} terminals")
    id_ = terminal_id(rows // 2)
    is_same = terminals[id_].acquirer_id == context.table.acquirer_of(id_)
    expect(is_same, f"the acquirer of {id_} is not that of the database")
    context.output.print(f'terminals["{id_}"].acquirer_id is {terminals[id_].acquirer_id}, as in the database')
    return terminals


def _change_rows(context: DemoContext, terminals: Directory[str, Terminal], look_ups: LookUps, seconds: float) -> None:
    context.output.begin_part("Look up objects while rows change")
    rate = look_ups.show_rate(context.output, seconds, lambda: "nothing changes")
    context.record_result("look-ups per second, in one thread", f"{rate:,.0f}")
    took_s = []
    for number in range(6):
        acquirer = f"ACQ-{100 + number}"
        context.table.change_acquirer(2, _ROWS_TOGETHER, acquirer)
        took_s.append(
            _wait_until_seen_together(terminals, acquirer) if number else _wait_until_seen(terminals, acquirer)
        )
    took_s.pop(0)  # the acquirers differed before the first change
    context.record_result(
        f"{_ROWS_TOGETHER} rows changed in one transaction became visible, all together, after",
        f"{sorted(took_s)[2] * 1000:.0f} ms (median)",
    )
    context.table.close_terminal(1)
    wait_until(lambda: terminal_id(1) not in terminals, "the inactive terminal is still there", _TIMEOUT_S)
    context.output.print("a terminal became inactive: its key was deleted")
    with context.table.late_commit(2, "ACQ-200"):
        context.table.change_acquirer(3, 1, "ACQ-201")
        wait_until(lambda: terminals[terminal_id(3)].acquirer_id == "ACQ-201", "the newer row was not seen", _TIMEOUT_S)
    _wait_until_seen(terminals, "ACQ-200")
    context.output.print("a row that was committed after a newer row had been copied is visible, too")


def _wait_until_seen_together(terminals: Directory[str, Terminal], acquirer: str) -> float:
    """Wait until 100 terminals have an acquirer, and check that they change together; return the time in seconds."""

    def all_have_it() -> bool:
        view = terminals.view()
        found = {view[terminal_id(number)].acquirer_id for number in range(2, 2 + _ROWS_TOGETHER)}
        expect(len(found) == 1, f"a version has a part of a transaction: {found}")
        return found == {acquirer}

    return wait_until(all_have_it, "the change was not seen", _TIMEOUT_S)


def _wait_until_seen(terminals: Directory[str, Terminal], acquirer: str) -> float:
    """Wait until the second terminal has an acquirer; return the time in seconds."""
    second = terminal_id(2)
    return wait_until(lambda: terminals[second].acquirer_id == acquirer, "the change was not seen", _TIMEOUT_S)


def _stop_database(context: DemoContext, look_ups: LookUps, seconds: float) -> None:
    if context.server is not None:
        context.output.begin_part("Stop the database; look-ups continue")
        context.server.kill()
        wait_until(lambda: context.notices.outage, "the source did not notice the outage", _TIMEOUT_S)
        context.output.print(f"[dim]the source reports: {context.notices.outage}[/]")
        rate = look_ups.show_rate(context.output, seconds, lambda: "the database is down")
        context.record_result("look-ups per second without the database", f"{rate:,.0f}")
    else:
        context.output.begin_part("Stop the source (the demonstration did not start the database); look-ups continue")
        context.source.close()
        rate = look_ups.show_rate(context.output, seconds, lambda: "no source is running")
        context.record_result("look-ups per second without the source", f"{rate:,.0f}")
    expect(look_ups.failure is None, f"a look-up failed: {look_ups.failure}")


def _start_again(context: DemoContext, terminals: Directory[str, Terminal], look_ups: LookUps, rows: int) -> None:
    context.output.begin_part("Start it again; changes arrive")
    began_s = time.monotonic()
    if context.server is not None:
        context.server.start()
        context.table.change_acquirer(2, rows // 10, "ACQ-300")
    else:
        context.table.change_acquirer(2, rows // 10, "ACQ-300")
        context.source = TableSource(context.settings, observers=[context.notices]).start()
    _wait_until_seen(terminals, "ACQ-300")
    context.record_result(f"{rows // 10:,} changes were visible after the start", f"{time.monotonic() - began_s:.1f} s")
    expect(look_ups.failure is None, f"a look-up failed: {look_ups.failure}")


def _print_summary(context: DemoContext, terminals: Directory[str, Terminal], look_ups: LookUps, took_s: float) -> None:
    context.output.begin_part("Summary")
    found = {each.terminal_id: each.acquirer_id for each in terminals.view().values()}
    expect(found == context.table.active_terminals(), "the directory differs from the table")
    context.record_result("objects in the directory, equal to the rows of the table", f"{len(found):,}")
    context.record_result("look-ups, none of which failed", f"{look_ups.count:,}")
    context.output.print_table(("", ""), context.results)
    context.output.print(f"\n   [bold green]Each step had the expected result[/], in {took_s:.0f} s.")
