"""The meaning of exit statuses, and advice for errors; docs/errors.md and docs/commands.md show the same texts."""

from __future__ import annotations

from typing import Final, NamedTuple


class ErrorAdvice(NamedTuple):
    """The package that exports an error, and the recommended action; its meaning is the docstring of the class."""

    package: str
    action: str


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
            "BadRecordError": "Have the writer repair the record, or leave it out with `on_bad_record`.",
        },
        "kafka_replica.errors": {
            "VersionGoneError": "Request a newer version, or keep more with `history=`.",
            "MissingExtraError": "Install the extra that the message names.",
            "BrokerUnavailableError": "Check the addresses and the network; the replica retries by itself.",
            "AuthenticationError": "Check the credentials, the SASL mechanism and the certificates.",
            "AuthorizationError": "Grant the operation that the message names to the client.",
            "TopicNotFoundError": "Check the name of the topic, or create it with `kafka-replica topics create`.",
            "LogReplacedError": "Nothing, unless it repeats: the state is rebuilt. Find out "
            "who deletes the topic or truncates its log.",
            "PublishError": "Publish again; no part of the transaction is visible.",
            "RecordNotSentError": "Make the record acceptable, for example smaller, and publish again.",
            "CommitUnknownError": "Read the topic to see whether the transaction is there "
            "before it is published again.",
            "DataError": "Correct the content that the message names.",
            "StoreError": "Check the disk and the rights to the folder of the store.",
            "StoreDamagedError": "Delete the folder of the store; the replica reads the topic "
            "again. Then check the disk.",
            "StoreInUseError": "Give each replica a folder of its own, or end the other process.",
        },
        "kafka_replica.headers": {
            "PieceError": "Compare the configuration of the header stack with that of the writer.",
            "ServiceUnavailableError": "Restore the service for keys or schemas, and start the replica again.",
        },
        "kafka_replica.directories": {
            "DuplicateValueError": "Correct the records that the message names, or declare the index as not unique.",
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
