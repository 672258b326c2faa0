"""The meaning of exit statuses and of a replica's states, and advice for errors.

docs/commands.md, docs/guarantees.md and docs/errors.md show the same texts.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from kafka_replica.publication.status import State


class ErrorAdvice(NamedTuple):
    """The package that exports an error, and the recommended action; its meaning is the docstring of the class."""

    package: str
    action: str


class StateAdvice(NamedTuple):
    """The texts about a state of a replica."""

    meaning: str
    """The meaning of the state, and the event that begins it."""
    ready: str
    """The value of ``status().ready``."""
    readers: str
    """The result of a look-up in this state."""
    end: str
    """The event that ends the state."""


EXIT_STATUSES: Final = {
    "0": "the command did its job",
    "1": "the command failed: no broker answers, the topic or key does not exist, a file is damaged, ... One "
    "sentence on stderr gives the reason",
    "2": "the command was called wrongly and has to be called differently: an unknown option or property, a "
    "malformed URN, a file that does not exist, a store that cannot be created, results that would be overwritten, ... "
    "Nothing was changed",
    "3": "`publish`, `validate` and `map`: done, but artefacts or rows were rejected (`validate` and `map`: or as "
    "[`--fail-on`](findings.md#thresholds-for-pipelines) requires); `topics create` and `check`: topics are not as "
    "declared",
    "130, 143": "interrupted by Ctrl-C or SIGTERM before it finished; Ctrl-C never shows a stack trace",
    "141": "the program that reads the output has ended, as in `kafka-replica list | head`",
}
"""The meaning of each exit status."""

STATES: Final = {
    State.NEW: StateAdvice(
        "The replica was created, but not started.",
        "no",
        "No version: `NotReadyError`.",
        "`start()`, or the `with` statement.",
    ),
    State.CATCHING_UP: StateAdvice(
        "The replica reads what was in the topic when it started. After the log was replaced or the store was damaged, "
        "it reads the topic again.",
        "no",
        "At the first start no version: `NotReadyError`. After a restart with a store, and while a topic is read "
        "again, the version from before (`status().stale`).",
        "Everything below the barrier has been read.",
    ),
    State.LIVE: StateAdvice(
        "The replica has read everything below the barrier, and follows the topic.",
        "yes",
        "The current version.",
        "One of the other states begins.",
    ),
    State.BLOCKED: StateAdvice(
        "For `blocked_after_s` (1 s), newer records have waited for a transaction that a producer holds open. With "
        "boundaries by markers this happens only with several partitions.",
        "as before",
        "The last version, if there is one.",
        "The producer commits or aborts, or Kafka aborts the transaction when its timeout has passed.",
    ),
    State.STALLED: StateAdvice(
        "For `stalled_after_s` (10 s), a broker that leads a partition has not answered, or the topic does not exist, "
        "or a service that a header stack needs has not answered. "
        "`status().last_error` has the reason, if it is known.",
        "as before",
        "The last version, if there is one.",
        "The broker or the service answers again; until then, the replica retries.",
    ),
    State.FAILED: StateAdvice(
        "An error ended the replica, such as a record that cannot be replicated or a missing permission. "
        "`status().last_error` has the error.",
        "as before; the service is not ready",
        "The last version; if there is none, the error.",
        "It does not end: remove the cause, and create a new replica or restart the program.",
    ),
    State.STOPPED: StateAdvice(
        "The replica was closed.",
        "as before; the service is not ready",
        "The last version; waiting for another one raises `ReplicaClosedError`.",
        "It does not end: create a new replica.",
    ),
}
"""The texts about each state of a replica."""

ADVICE: Final = {
    name: ErrorAdvice(package, action)
    for package, actions in {
        "kafka_replica": {
            "KafkaReplicaError": (
                "Catch it where the kind of failure does not matter; its subclasses are more specific."
            ),
            "UsageError": "Correct the call as described in the message; a retry fails again.",
            "ConfigurationError": "Change the setting that the message names.",
            "NotReadyError": "Call `wait_ready()` first, or check `status().ready`.",
            "ReplicaClosedError": "Create a new replica; a closed one is not opened again.",
            "BrokerError": "Read the message; `kafka-replica doctor` finds most causes.",
            "WaitTimeoutError": "Check in `status()` what the replica is waiting for; allow "
            "more time if it makes progress.",
            "BadRecordError": (
                "Publish the key again or delete it. A replica that was stopped reads the old record again at each "
                'start until Kafka has compacted it away; `on_bad_record="skip"` leaves it out until then. A directory '
                "continues by itself. If a function or a type of your program is wrong instead, correct that."
            ),
        },
        "kafka_replica.errors": {
            "VersionGoneError": "Request a newer version, or keep more with `kept_versions=`.",
            "MissingExtraError": "Install the extra that the message names.",
            "BrokerUnavailableError": "Check the addresses and the network; the replica retries by itself.",
            "AuthenticationError": "Check the credentials, the SASL mechanism and the certificates.",
            "AuthorizationError": "Grant the operation that the message names to the client.",
            "TopicNotFoundError": "Check the name of the topic, or [create it](topics.md#one-topic) with "
            "`kafka-topics.sh`.",
            "LogReplacedError": "Nothing, unless it repeats: the state is rebuilt. Find out "
            "who deletes the topic or truncates its log.",
            "PublishError": "Publish again; no part of the transaction is visible.",
            "RecordNotSentError": "Make the record acceptable, for example smaller, and publish again.",
            "CommitUnknownError": "Read the topic to see whether the transaction is there "
            "before it is published again.",
            "DataError": "Correct the content that the message names.",
            "StoreError": "Check the disk and the rights to the folder of the store.",
            "StoreDamagedError": "Check the disk. A replica rebuilds its store from the topic when it is started. A "
            "history cannot be rebuilt: restore a copy of its folder, or remove the folder to begin a new history.",
            "StoreInUseError": "Give each replica a folder of its own, or end the other process.",
        },
        "kafka_replica.headers": {
            "PieceError": "Compare the header stack with that of the writer; when writing, correct the record.",
            "ServiceUnavailableError": "Restore the service for keys or schemas; a replica continues then, a producer "
            "has to try again. A replica that was refused at its start has to be started again.",
        },
        "kafka_replica.directories": {
            "DuplicateValueError": "Correct the records that the message names; or choose another `key`, or declare "
            "the index as not unique.",
        },
        "kafka_replica.history": {
            "VersionNotKeptError": "Request a version that is kept, or keep more with `keep_s` or `keep_versions`.",
            "FutureVersionError": "Wait until the replica has it, or request an earlier version.",
        },
        "kafka_replica.sdmx": {
            "SdmxError": "Correct the structure that the message names.",
            "UrnError": "Write a URN, or a reference such as `ESTAT:CL_FREQ(2.1)`.",
            "MessageError": "Have the source write the message again; check it against the schema of the standard.",
            "UnreadableContentError": "Request another format from the source; the bytes stay available.",
            "NotExpressibleError": "Use the classes of `kafka_replica.sdmx` for this artefact.",
            "ExtensionError": "Correct the extensions of the codelists that the message names.",
            "UnwritableError": "Write the format that the message names.",
            "ArtefactNotFoundError": "Check the reference; `kafka-replica list` shows the existing keys.",
            "IncompleteStructureError": "Publish the artefacts that `missing` lists.",
        },
        "kafka_replica.data": {
            "NotInvertibleError": "Write a structure map for the opposite direction.",
            "DatasetError": "Correct the file at the location that the message names.",
            "EngineEndedError": "Give the process more memory, such as `spark.driver.memory`, and run the job again.",
            "MapError": "Correct the structure map that the message names.",
        },
        "kafka_replica.producer": {
            "ProducerConflictError": "Give each database a producer id of its own; after a "
            "restore use `producer claim`.",
            "PublishUnavailableError": "Publish again when a broker answers; no part of the transaction is visible.",
            "EncodingError": "Choose a format that can represent the content.",
            "OutboxError": "Read the log of the database.",
            "OutboxUnavailableError": "Restore the database; the producer retries by itself.",
            "OutboxNotMigratedError": "Run `kafka-replica producer migrate`.",
            "SourceError": "Repair the source; until then the topic is left unchanged.",
            "SourceUnavailableError": "Restore the database of the source; a retry follows.",
        },
        "kafka_replica.embedded": {
            "EmbeddedKafkaError": "Read the message; often the network, the disk or Java is missing.",
        },
        "kafka_replica.topics": {
            "TopicNameError": "Choose a name that the convention allows.",
        },
    }.items()
    for name, action in actions.items()
}
"""The advice for each error, by the name of its class."""
