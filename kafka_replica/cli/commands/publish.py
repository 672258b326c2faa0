"""``kafka-replica publish``: publishes structure files to a topic, in one transaction."""

from __future__ import annotations

import logging
import sys
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.progress import Progress

from kafka_replica.broker.admin.topics import Topics
from kafka_replica.broker.topic_settings import STRUCTURE_TOPIC
from kafka_replica.cli.log_output import log_message
from kafka_replica.cli.numbers import WholeNumber
from kafka_replica.cli.options import ReplicaArguments, kafka_options
from kafka_replica.cli.output import print_json_line, print_line
from kafka_replica.cli.properties import properties
from kafka_replica.cli.topic_schemes import may_be_merged, merge_with_topic, repeat_if_fenced
from kafka_replica.cli.topic_suggestions import topic_suggestions
from kafka_replica.common.wording import counted
from kafka_replica.errors import UsageError
from kafka_replica.producer import CommittedTransaction, TransactionalProducer
from kafka_replica.producer.structures import put_part
from kafka_replica.sdmx import Urn
from kafka_replica.sdmx.errors import MessageError, UrnError
from kafka_replica.sdmx.files.structure_files import FileContents, RejectedArtefact, read_structures, structure_files
from kafka_replica.sdmx.urns.classes import CLASSES
from kafka_replica.sdmx.urns.versions import is_wildcard

REJECTED: Final = 3
"""The exit status if some artefacts were rejected and all others published."""


@click.command()
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option("--delete", "deletes", multiple=True, metavar="URN...", help="Send tombstones for these URNs.")
@click.option("--create-topic", is_flag=True, help="Create the topic (compacted) if it does not exist.")
@click.option("--partitions", type=WholeNumber(1), default=1, show_default=True, help="Partitions of a new topic.")
@click.option(
    "--replication-factor",
    type=WholeNumber(1),
    help="Replication factor of a new topic; by default 3, or the number of brokers if that is smaller.",
)
@click.option("--skip-unreadable", is_flag=True, help="Skip files that cannot be read at all, and list them.")
@click.option("--no-check", is_flag=True, help="Also publish artefacts that cannot be read, if possible.")
@click.option(
    "--no-merge",
    is_flag=True,
    help="Replace concept and organisation schemes instead of merging them with those of the topic.",
)
@click.option(
    "--transactional-id", help="Transactional id, which fences other producers with the same id; unique by default."
)
@kafka_options
def publish(
    paths: tuple[str, ...],
    deletes: tuple[str, ...],
    create_topic: bool,
    partitions: int,
    replication_factor: int | None,
    skip_unreadable: bool,
    no_check: bool,
    no_merge: bool,
    transactional_id: str | None,
    bootstrap_server: str | None,
    topic: str,
    configs: tuple[str, ...],
    timeout_s: float,
    as_json: bool,
) -> int:
    """Publish structure files in one Kafka transaction: one record per artefact, with its URN as key.

    PATH is a file, or a folder of files. With --delete, further arguments that begin with "urn:" are deleted too.
    Returns when readers of committed data see the transaction. Artefacts that cannot be read are listed and not
    published; the exit status is 3 then.
    """
    config = properties(bootstrap_server, configs)
    deleted, files = _separate_urns(paths, deletes)
    structures = read_structures(structure_files(files), skip_unreadable=skip_unreadable, check=not no_check)
    _report_left_out(structures)
    _check_contents(structures, deleted)
    topics = Topics(config)
    if create_topic:
        topics.create(topic, partitions, STRUCTURE_TOPIC, timeout_s, replication_factor)
    with topic_suggestions(config, topic, remedy="; create it with --create-topic"):
        topics.look_up(topic, timeout_s)  # because a producer would wait for a missing topic
    is_shared = may_be_merged([*structures.parts, *deleted])
    own_id = f"kafka-replica-publish-{topic if is_shared else uuid.uuid4()}"
    reading = ReplicaArguments(bootstrap_server, topic, configs, timeout_s, "auto", None, (), "skip", None)

    def merge_and_send() -> None:
        producer = TransactionalProducer(config, topic, transactional_id or own_id, timeout_s=timeout_s)
        sent = structures if no_merge else replace(structures, parts=merge_with_topic(structures.parts, reading))
        committed = _send(producer, sent, deleted)
        producer.wait_visible(committed, timeout_s)
        _report(sent, deleted, committed, as_json)

    if is_shared and transactional_id is None:
        repeat_if_fenced(merge_and_send, topic)
    else:
        merge_and_send()
    return REJECTED if structures.rejected else 0


def _separate_urns(paths: tuple[str, ...], deletes: tuple[str, ...]) -> tuple[list[Urn], list[Path]]:
    urns = [*deletes, *(path for path in paths if deletes and path.startswith("urn:"))]
    files = [Path(path) for path in paths if not (deletes and path.startswith("urn:"))]
    try:
        parsed = [Urn.parse(urn) for urn in urns]
    except UrnError as error:
        raise UsageError(f"--delete: {error}") from error
    for urn in parsed:
        if is_wildcard(urn.version) or "*" in (urn.agency, urn.id):
            raise UsageError(f"{urn} may match several artefacts; name each artefact to delete")
        known = CLASSES.get(urn.cls)
        if urn.item is not None or (known is not None and not known.is_maintainable):
            raise UsageError(f"{urn} is an item; only whole artefacts are published and deleted: {urn.maintainable}")
    return list(dict.fromkeys(parsed)), files


def _check_contents(structures: FileContents, deleted: list[Urn]) -> None:
    """Check that there is something to publish or delete, and that no artefact is both.

    Raises:
        MessageError: none of the artefacts can be read.
        UsageError: no artefacts were given, or an artefact is both published and deleted.
    """
    if not structures.parts and not deleted:
        if structures.rejected:
            raise MessageError(
                f"nothing was published: none of {counted(len(structures.rejected), 'artefact')} can be read"
            )
        raise UsageError("nothing to publish: give structure files, folders, or --delete URN")
    named = {*structures.parts, *(rejected.error.urn for rejected in structures.rejected)}
    both = [str(urn) for urn in deleted if urn in named]
    if both:
        raise UsageError(f"these artefacts cannot be both published and deleted: {', '.join(both)}")


def _send(producer: TransactionalProducer, structures: FileContents, deleted: list[Urn]) -> CommittedTransaction:
    console = Console(file=sys.stderr)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        with producer.transaction() as transaction:
            for part in progress.track(list(structures.parts.values()), description="publishing"):
                put_part(transaction, part)
            for urn in deleted:
                transaction.delete(str(urn))
        return transaction.committed


def _report_left_out(structures: FileContents) -> None:
    for file, reason in structures.left_out.items():
        log_message(f"left out: {file}: {reason}", logging.WARNING)
    for rejected in structures.rejected:
        log_message(f"rejected: {rejected.file}: {rejected.error}", logging.WARNING)
    for urn, merged in structures.merged.items():
        differing = f"; the last file counts for {', '.join(merged.conflicts[:5])}" if merged.conflicts else ""
        log_message(f"merged from {counted(len(merged.files), 'file')}: {urn}{differing}")
    if structures.replaced:
        urn, file = structures.replaced[-1]
        count = len({urn for urn, _ in structures.replaced})
        log_message(
            f"in more than one file: {counted(count, 'artefact')}, such as {urn}; the file read last counts, for this "
            f"one {file}"
        )


def _report(structures: FileContents, deleted: list[Urn], committed: CommittedTransaction, as_json: bool) -> None:
    position = committed.position.as_json() if committed.is_committed else {}
    if as_json:
        lines: list[dict[str, Any]] = [
            {"key": str(part.urn), "size": len(part.value), "content_type": part.content_type}
            for part in structures.parts.values()
        ]
        lines += [{"key": str(urn), "deleted": True} for urn in deleted]
        for line in lines:
            print_json_line(line)
        print_json_line({
            "published": len(structures.parts), "deleted": len(deleted),
            "left_out": [str(file) for file in structures.left_out],
            "rejected": [_rejected_json(rejected) for rejected in structures.rejected], "position": position,
        })  # fmt: skip
    else:
        ends = ", ".join(f"{partition} up to {offset}" for partition, offset in position.items())
        rejected = f"{len(structures.rejected):,} rejected, " if structures.rejected else ""
        published = counted(len(structures.parts), "structure")
        print_line(f"{published} published, {rejected}{len(deleted):,} deleted, in one transaction: {ends}")


def _rejected_json(rejected_artefact: RejectedArtefact) -> dict[str, str | None]:
    error = rejected_artefact.error
    key = None if error.urn is None else str(error.urn)
    return {
        "file": str(rejected_artefact.file), "key": key, "class": error.cls, "id": error.id, "place": error.place,
        "reason": error.reason,
    }  # fmt: skip
