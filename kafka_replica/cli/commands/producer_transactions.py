"""``kafka-replica producer list|show|skip|replace``: recorded transactions, and those that cannot be sent."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import click

from kafka_replica.cli.numbers import WholeNumber
from kafka_replica.cli.output import print_json_line, print_line, write_bytes
from kafka_replica.cli.producer_options import control_of, producer_options, report_success
from kafka_replica.common.wording import counted
from kafka_replica.errors import UsageError
from kafka_replica.listeners.change_json import json_text
from kafka_replica.producer.changes.changes import Put
from kafka_replica.producer.outbox import Status
from kafka_replica.producer.outbox.listing import RecordedTransaction, StoredRecord
from kafka_replica.producer.sources.contents import put_of
from kafka_replica.records import key_text
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.files.structure_files import read_structures, structure_files

_TX_ID = click.argument("tx_id", type=WholeNumber(1), metavar="TX_ID")
_REASON = click.option("--reason", default="by request", show_default=True, help="Reason shown in the list.")
_WHEN_RESUMED = "when the producer is resumed"


@click.command(name="list")
@producer_options
@click.option(
    "--status",
    "statuses",
    multiple=True,
    type=click.Choice([status.name.lower() for status in Status]),
    help="Only transactions of this status. Repeatable.",
)
@click.option(
    "--limit",
    type=WholeNumber(1),
    default=20,
    show_default=True,
    help="Maximum number of transactions, newest first.",
)
def list_transactions(file: Path, as_json: bool, statuses: tuple[str, ...], limit: int) -> None:
    """List recorded transactions, and the amendments to those that could not be sent."""
    with control_of(file) as control:
        found = control.transactions(*(Status[name.upper()] for name in statuses), limit=limit)
    for each in found:
        if as_json:
            print_json_line(each.as_json())
        else:
            _print_transaction(each)


@click.command()
@producer_options
@_TX_ID
@click.option("--key", help="Print the value of the record with this key, byte for byte.")
def show(file: Path, as_json: bool, tx_id: int, key: str | None) -> None:
    """Show the records of a transaction, including those that were skipped or replaced."""
    with control_of(file) as control:
        records = control.records(tx_id)
    if key is not None:
        records = [record for record in records if record.key == os.fsencode(key)]
        if not records:
            raise UsageError(f"transaction {tx_id} has no record of {key_text(os.fsencode(key))}")
        if not as_json:
            write_bytes(records[0].value or b"")
            return
    for record in records:
        _show_record(record, as_json)


@click.command()
@producer_options
@_TX_ID
@click.option("--key", "keys", multiple=True, metavar="KEY", help="Only the record of this key. Repeatable.")
@_REASON
def skip(file: Path, as_json: bool, tx_id: int, keys: tuple[str, ...], reason: str) -> None:
    """Skip a transaction that cannot be sent, or some of its records; the others follow in order.

    Skipped records are kept, counted and listed. The producer must not be running; suspend it first if it is.
    """
    chosen = [os.fsencode(key) for key in keys]
    with control_of(file) as control:
        control.skip(tx_id, chosen or None, reason=reason)
    what = f"{', '.join(map(key_text, chosen))} of transaction {tx_id}" if chosen else f"transaction {tx_id}"
    report_success(as_json, "skip", f"{what} will be skipped {_WHEN_RESUMED}")


@click.command()
@producer_options
@_TX_ID
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path), metavar="PATH...")
@click.option("--key", help="Key whose value PATH contains as it is; without it PATH is structure files.")
@click.option("--content-type", help="Media type of that file.")
@_REASON
def replace(
    file: Path,
    as_json: bool,
    tx_id: int,
    paths: tuple[Path, ...],
    key: str | None,
    content_type: str | None,
    reason: str,
) -> None:
    """Send other content for keys of a transaction that cannot be sent; its other records stay unchanged.

    PATH is a structure file, or a folder of them; each artefact replaces the one with its URN. The replaced content is
    kept and listed. The producer must not be running; suspend it first if it is.
    """
    puts = _puts(paths, key, content_type)
    with control_of(file) as control:
        control.replace(tx_id, puts, reason=reason)
    report_success(
        as_json, "replace", f"{counted(len(puts), 'record')} of transaction {tx_id} will be replaced {_WHEN_RESUMED}"
    )


def _puts(paths: tuple[Path, ...], key: str | None, content_type: str | None) -> list[Put]:
    if key is None:
        if content_type is not None:
            raise UsageError("--content-type requires --key; structure files have their own")
        found = read_structures(structure_files(paths))
        if found.rejected:
            raise MessageError(f"{found.rejected[0].file}: {found.rejected[0].error}; nothing was replaced")
        return [put_of(part) for part in found.parts.values()]
    if len(paths) != 1 or paths[0].is_dir():
        raise UsageError("--key requires exactly one file, with the value of that key")
    return [Put(os.fsencode(key), paths[0].read_bytes(), content_type)]


def _print_transaction(each: RecordedTransaction) -> None:
    recorded = datetime.fromtimestamp(each.recorded_ms / 1000, UTC).isoformat(sep=" ", timespec="seconds")
    size = f"{counted(each.records, 'record')}, {counted(each.size, 'byte')}"
    print_line(f"{each.tx_id}  {each.status.name.lower()}  {each.kind}  {recorded}  {size}")
    if each.error is not None:
        print_line(f"    {each.error}")
    for amended in each.amendments:
        what = "all of it" if amended.key is None else amended.key
        print_line(f"    {amended.action} {what}: {amended.state}{f' ({amended.reason})' if amended.reason else ''}")


def _show_record(record: StoredRecord, as_json: bool) -> None:
    size = None if record.value is None else len(record.value)
    if as_json:
        value = None if record.value is None else json_text(record.value)
        words = {"key": json_text(record.key), "state": record.state, "content_type": record.content_type}
        print_json_line({**words, "size": size, "value": value})
    else:
        held = "deletion" if size is None else f"{size:,} bytes"
        print_line(
            f"{key_text(record.key)}  {record.state}  {held}{f', {record.content_type}' if record.content_type else ''}"
        )
