"""Every failure of kafka_replica is one of these.

::

    KafkaReplicaError
    ├── UsageError                  the caller's mistake
    │   ├── ConfigurationError      a setting that is unknown, impossible or would break a promise
    │   ├── NotReadyError           asked before the barrier was passed
    │   ├── ReplicaClosedError      asked after close()
    │   ├── VersionGoneError        a version was asked for that is not kept
    │   ├── NotInvertibleError      a structure map that forgets something cannot be turned round
    │   └── MissingExtraError       an optional dependency is not installed
    ├── BrokerError                 Kafka could not be reached or said no
    │   ├── BrokerUnavailableError  no broker answers; it may come back
    │   ├── AuthenticationError     who we are was refused
    │   ├── AuthorizationError      what we want was refused
    │   ├── TopicNotFoundError      there is no such topic
    │   ├── LogReplacedError        the log is not the one that was read: made again, or cut off
    │   ├── WaitTimeoutError        something did not happen in the time given
    │   ├── ProducerConflictError   another database publishes under the producer's id, or its database was copied
    │   └── PublishError            a transaction was not committed
    │       ├── RecordNotSentError  a record of it was refused on this side
    │       └── CommitUnknownError  ... or it was: the broker did not answer in time
    ├── DataError                   bad data
    │   ├── BadRecordError          a record that cannot be replicated
    │   ├── EncodingError           content that could not be written in the format wanted
    │   ├── DatasetError            a file of data that is not what its format says
    │   └── SdmxError               content that is not what SDMX says it is
    │       ├── UrnError            not a URN of SDMX
    │       ├── MessageError        a structure message that cannot be read
    │       ├── UnreadableContentError  a format that this version does not read
    │       ├── UnwritableError         a format has no place for an artefact, or for all that it says
    │       ├── NotExpressibleError     a library or table has no place for an artefact of this class
    │       ├── ExtensionError          codelists that extend each other in a way that makes no list
    │       ├── MapError                a structure map that says what cannot be done
    │       └── ArtefactNotFoundError   no such artefact in this version
    │           └── IncompleteStructureError  not all that is needed to validate data is there
    ├── StoreError                  the store could not do its work
    │   ├── StoreDamagedError       what it has on disk is not what was written
    │   └── StoreInUseError         another process, or another replica, has it
    ├── OutboxError                 the producer's database could not do its work
    │   ├── OutboxUnavailableError  it cannot be reached, or is busy; it may come back
    │   └── OutboxNotMigratedError  it has no tables of the producer, or those of another version
    ├── SourceError                 a folder or service that the producer watches cannot be read, or not all of it
    └── EmbeddedKafkaError          the embedded broker could not be fetched, started or stopped

A message says what was being done, to what (key, topic, partition, offset), what went wrong, and what
to do next. Nothing here imports anything else of kafka_replica.
"""

from __future__ import annotations


class KafkaReplicaError(Exception):
    """The base of all exceptions raised by kafka_replica."""


class UsageError(KafkaReplicaError):
    """The caller's mistake; the message says what to do instead."""


class ConfigurationError(UsageError):
    """A setting is unknown, impossible or would break a promise."""


class NotReadyError(UsageError):
    """A version was asked for before the first one was published."""


class ReplicaClosedError(UsageError):
    """Something was asked of a replica that is closed."""


class VersionGoneError(UsageError, LookupError):
    """A version was asked for that is not kept any more."""


class NotInvertibleError(UsageError):
    """A structure map was to be turned round that forgets something; says what."""


class MissingExtraError(UsageError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f'{what} needs more packages; install them with: pip install "kafka-replica[{extra}]"')


class BrokerError(KafkaReplicaError):
    """Kafka could not be reached, or refused what was asked."""


class BrokerUnavailableError(BrokerError):
    """No broker answers; it may come back."""


class AuthenticationError(BrokerError):
    """The broker refused who we are (SASL, TLS)."""


class AuthorizationError(BrokerError):
    """The broker refused what we want to do (ACL)."""


class TopicNotFoundError(BrokerError):
    """The topic does not exist."""


class LogReplacedError(BrokerError):
    """The log is not the one that was read any more: made again, cut off at its end, or deleted at its front."""


class WaitTimeoutError(BrokerError, TimeoutError):
    """Something that was waited for did not happen in the time given."""


class ProducerConflictError(BrokerError):
    """Another database publishes under the producer's id on this cluster, or the producer's database is a copy."""


class PublishError(BrokerError):
    """A Kafka transaction was not committed; nothing of it is visible."""


class RecordNotSentError(PublishError):
    """A record was refused on this side, and never left; nothing of its transaction is visible."""


class CommitUnknownError(PublishError):
    """Kafka did not answer a commit in time: the transaction may be visible, whole, or it may not."""


class DataError(KafkaReplicaError):
    """Bad data."""


class BadRecordError(DataError):
    """A record that cannot be replicated; ``key`` is None where it has none, or none can be read.

    ``record`` is the record as it was read, if it could be; it does not go along when the error is pickled.
    """

    record: object | None = None

    def __init__(
        self, topic: str, partition: int, offset: int, reason: str, advice: str, key: bytes | None = None
    ) -> None:
        named = "" if key is None else f" ({key.decode(errors='backslashreplace')})"
        super().__init__(f"record at {topic}-{partition}, offset {offset}{named}: {reason}; {advice}")
        self.topic, self.partition, self.offset, self.reason, self.advice, self.key = (
            topic,
            partition,
            offset,
            reason,
            advice,
            key,
        )

    def __reduce__(self) -> tuple[type[BadRecordError], tuple[str, int, int, str, str, bytes | None]]:
        return type(self), (self.topic, self.partition, self.offset, self.reason, self.advice, self.key)


class EncodingError(DataError):
    """Content that could not be written in the format wanted."""


class DatasetError(DataError):
    """A data set that is not in the format it should be in; the text names the file, and the column if it is one's."""


class SdmxError(DataError):
    """Content that is not what SDMX says it is."""


class UrnError(SdmxError, ValueError):
    """Not a URN (or short reference) of SDMX."""


class MessageError(SdmxError):
    """A structure message that cannot be read: damaged, hostile, or not what its type says."""


class UnreadableContentError(SdmxError):
    """Content in a format, or of a class, that this version does not read; the bytes are kept."""


class NotExpressibleError(SdmxError):
    """An artefact that another library, or a table, has no place for."""


class ExtensionError(SdmxError):
    """Codelists that extend each other in a way that makes no list: in circles, say."""


class UnwritableError(SdmxError):
    """An artefact that a format has no place for, or not for all that it says; the text names another format."""


class MapError(SdmxError):
    """A structure map, or a map it refers to, says what cannot be done."""


class ArtefactNotFoundError(SdmxError, LookupError):
    """This version holds no such artefact or item."""


class IncompleteStructureError(ArtefactNotFoundError):
    """Not all that is needed to validate data is in this version, or can be used; ``missing`` lists all of it."""

    missing: tuple[object, ...] = ()


class StoreError(KafkaReplicaError):
    """The store could not do its work."""


class StoreDamagedError(StoreError):
    """What a store has on disk is not what was written there."""


class StoreInUseError(StoreError):
    """Another process, or another replica of this one, has the store."""


class OutboxError(KafkaReplicaError):
    """The producer's database refused what was asked."""


class OutboxUnavailableError(OutboxError):
    """The producer's database cannot be reached, or is busy; it may come back."""


class OutboxNotMigratedError(OutboxError):
    """The database has no tables of the producer, or those of another version; migrate it."""


class SourceError(KafkaReplicaError):
    """A source of the producer cannot be read, or not all of it: nothing of it is taken in."""


class EmbeddedKafkaError(KafkaReplicaError):
    """The embedded broker could not be fetched, started or stopped."""
