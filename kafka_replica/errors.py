"""The exceptions that kafka_replica raises.

::

    KafkaReplicaError
    ├── UsageError                  the caller's mistake
    │   ├── ConfigurationError      a setting that is unknown, impossible or would break a guarantee
    │   ├── NotReadyError           a call that needs a version came before the first one was published
    │   ├── ReplicaClosedError      a call came after close()
    │   ├── VersionGoneError        a requested version is not kept
    │   │   └── VersionNotKeptError     a history does not have a requested version or instant
    │   ├── FutureVersionError      a requested version or instant is still to come
    │   ├── NotInvertibleError      a structure map that loses information cannot be inverted
    │   └── MissingExtraError       an optional dependency is not installed
    ├── BrokerError                 Kafka could not be reached or refused a request
    │   ├── BrokerUnavailableError  no broker answers; one may come back
    │   ├── AuthenticationError     the broker refused the client's identity (SASL, TLS)
    │   ├── AuthorizationError      the broker refused an operation (ACL)
    │   ├── TopicNotFoundError      the topic does not exist
    │   ├── LogReplacedError        the log is no longer the one that was read: created again, or truncated
    │   ├── WaitTimeoutError        a wait timed out
    │   ├── ProducerConflictError   another database publishes under the producer's id, or its database was copied
    │   └── PublishError            a transaction was not committed
    │       ├── PublishUnavailableError  no broker answered; a BrokerUnavailableError as well
    │       ├── RecordNotSentError  a record of the transaction was refused by the client
    │       └── CommitUnknownError  the outcome is unknown: the broker did not answer in time
    ├── DataError                   bad data
    │   ├── BadRecordError          a record that cannot be replicated
    │   ├── PieceError              a piece of a header stack refused a record
    │   ├── DuplicateValueError     several records have a key or value that a directory expects once
    │   ├── EncodingError           content that cannot be written in the requested format
    │   ├── DatasetError            a data file that violates its format
    │   └── SdmxError               content that violates SDMX
    │       ├── UrnError            a text that is not an SDMX URN
    │       ├── MessageError        a structure message that cannot be read
    │       ├── UnreadableContentError  a format that this version cannot read
    │       ├── UnwritableError         a format cannot represent an artefact, or not all of it
    │       ├── NotExpressibleError     a library or table cannot represent an artefact of this class
    │       ├── ExtensionError          codelist extensions that result in no list, such as circular ones
    │       ├── MapError                a structure map that cannot be applied
    │       └── ArtefactNotFoundError   the version does not contain the artefact
    │           └── IncompleteStructureError  artefacts needed to validate data are missing
    ├── StoreError                  the store failed
    │   ├── StoreDamagedError       the data on disk differs from what was written
    │   └── StoreInUseError         another process, or another replica, uses the store
    ├── OutboxError                 the producer's database failed
    │   ├── OutboxUnavailableError  the database cannot be reached, or is busy; it may come back
    │   └── OutboxNotMigratedError  the database lacks the producer's tables, or has those of another version
    ├── ServiceUnavailableError     a service for keys or schemas, which a header stack needs, does not answer
    ├── SourceError                 a folder, service or table that is copied cannot be read completely
    │   └── SourceUnavailableError  its database cannot be reached; it may come back
    ├── EngineEndedError            the process that runs an engine, such as Spark's Java, ended during a job
    └── EmbeddedKafkaError          the embedded broker could not be fetched, started or stopped

A message names the operation, its object (key, topic, partition, offset), the failure, and what
to do next. The errors of header stacks, directories, histories, SDMX, data, the producer and the embedded broker are
defined in these packages, and exported by them. This module imports no other module of kafka_replica.
"""

from __future__ import annotations

__all__ = [
    "AuthenticationError",
    "AuthorizationError",
    "BadRecordError",
    "BrokerError",
    "BrokerUnavailableError",
    "CommitUnknownError",
    "ConfigurationError",
    "DataError",
    "KafkaReplicaError",
    "LogReplacedError",
    "MissingExtraError",
    "NotReadyError",
    "PublishError",
    "RecordNotSentError",
    "ReplicaClosedError",
    "StoreDamagedError",
    "StoreError",
    "StoreInUseError",
    "TopicNotFoundError",
    "UsageError",
    "VersionGoneError",
    "WaitTimeoutError",
]


class KafkaReplicaError(Exception):
    """The base of all exceptions raised by kafka_replica."""


class UsageError(KafkaReplicaError):
    """The caller's mistake; the message names the alternative."""


class ConfigurationError(UsageError):
    """A setting is unknown, impossible or would break a guarantee."""


class NotReadyError(UsageError):
    """A version was requested before the first one was published."""


class ReplicaClosedError(UsageError):
    """A method was called on a closed replica."""


class VersionGoneError(UsageError, LookupError):
    """A version was requested that is no longer kept."""


class MissingExtraError(UsageError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f'{what} needs additional packages; install them with: pip install "kafka-replica[{extra}]"')
        self._arguments = what, extra

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str]]:
        return type(self), self._arguments


class BrokerError(KafkaReplicaError):
    """Kafka could not be reached, or refused a request."""


class BrokerUnavailableError(BrokerError):
    """No broker answers; one may come back."""


class AuthenticationError(BrokerError):
    """The broker refused the client's identity (SASL, TLS)."""


class AuthorizationError(BrokerError):
    """The broker refused an operation (ACL)."""


class TopicNotFoundError(BrokerError):
    """The topic does not exist."""


class LogReplacedError(BrokerError):
    """The log is no longer the one that was read: created again, truncated at its end, or deleted at its start."""


class WaitTimeoutError(BrokerError, TimeoutError):
    """An awaited event did not happen before the timeout."""


class PublishError(BrokerError):
    """A Kafka transaction was not committed; none of its records are visible."""


class RecordNotSentError(PublishError):
    """The client refused a record and did not send it; no record of its transaction is visible."""


class CommitUnknownError(PublishError):
    """Kafka did not answer a commit in time: the transaction is either visible as a whole, or not at all."""


class DataError(KafkaReplicaError):
    """The data is invalid."""


class BadRecordError(DataError):
    """A record that cannot be replicated; ``key`` is None if it has none, or the key cannot be read.

    ``record`` is the record as it was read, if it could be read; pickling the error drops the record. The list of a
    replica, ``bad_records``, has it only if value and headers have at most 16,000 bytes. ``timestamp_ms`` is the
    record's timestamp, or -1 if it is not known.
    """

    record: object | None = None

    def __init__(
        self,
        topic: str,
        partition: int,
        offset: int,
        reason: str,
        advice: str,
        key: bytes | None = None,
        timestamp_ms: int = -1,
    ) -> None:
        named = "" if key is None else f", key '{key.decode(errors='backslashreplace')}'"
        super().__init__(f"record at {topic}-{partition}, offset {offset}{named}: {reason}; {advice}")
        self.topic, self.partition, self.offset, self.reason, self.advice, self.key = (
            topic,
            partition,
            offset,
            reason,
            advice,
            key,
        )
        self.timestamp_ms = timestamp_ms

    def __reduce__(self) -> tuple[type[BadRecordError], tuple[str, int, int, str, str, bytes | None, int]]:
        fields = self.topic, self.partition, self.offset, self.reason, self.advice, self.key, self.timestamp_ms
        return type(self), fields


class StoreError(KafkaReplicaError):
    """The store failed."""


class StoreDamagedError(StoreError):
    """The data of a store on disk differs from what was written."""


class StoreInUseError(StoreError):
    """Another process, or another replica in this process, uses the store."""
