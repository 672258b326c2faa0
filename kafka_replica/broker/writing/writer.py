"""Write Kafka transactions with the confluent-kafka producer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from kafka_replica.broker.connection.clients import create_client
from kafka_replica.broker.connection.settings import common_settings, error_callback
from kafka_replica.broker.errors import is_consequence, translate_error
from kafka_replica.broker.writing.faults import is_fenced_by_another, leaves_outcome_unknown
from kafka_replica.broker.writing.header_names import check_sendable
from kafka_replica.broker.writing.size_limits import (
    DEFAULT_QUEUE_KBYTES,
    OWN_LIMIT,
    QUEUE_LIMIT,
    OwnLimit,
    is_too_large,
    over_kafkas_limit,
    over_own_limit,
)
from kafka_replica.broker.writing.unanswered import no_answer, not_acknowledged, publish_error
from kafka_replica.errors import (
    AuthenticationError,
    BrokerError,
    BrokerUnavailableError,
    CommitUnknownError,
    ConfigurationError,
    PublishError,
    RecordNotSentError,
    UsageError,
)
from kafka_replica.records import Headers, Partition, key_text

T = TypeVar("T")

_RETRY_S = 0.1
_REFUSED_WITHIN_S = 0.5  # the interval at which a wait for the first answer checks for refused credentials
_EARLIEST_RETRY = 0.8  # fraction of retry.backoff.ms, which librdkafka varies by 20 % either way
_BY_KEY = -1  # librdkafka's partitioner chooses
_POLL_EVERY = 128  # records; delivered records keep their memory until then
_DELIVERY_POLL_S = 0.01
_REPORTED_WITHIN_S = 2.0  # the wait for the report of the record whose failure makes the client refuse others

DEFAULTS: dict[str, Any] = {
    "client.id": "kafka-replica-producer",
    "compression.type": "zstd",
    # librdkafka measures a record before compression, the broker a batch after it; the broker decides.
    "message.max.bytes": 256 << 20,
    "linger.ms": 5,
    # How soon librdkafka may repeat a request; after a commit that took longer, a new producer is created.
    "retry.backoff.ms": 500,
    "retry.backoff.max.ms": 1000,
}


def own_limit(config: Mapping[str, Any]) -> OwnLimit:
    """Return a producer's limit for key and value of a record together, in bytes before compression.

    Raises:
        ConfigurationError: the limit is not a number.
    """
    settings = {**DEFAULTS, **common_settings(config)}
    limit, queue = settings["message.max.bytes"], settings.get(QUEUE_LIMIT, DEFAULT_QUEUE_KBYTES)
    try:
        return min(OwnLimit(int(limit), OWN_LIMIT), OwnLimit(int(queue) << 10, QUEUE_LIMIT))
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"message.max.bytes={limit!r} or {QUEUE_LIMIT}={queue!r} is not a number") from error


class _Refusal(NamedTuple):
    """A record that was not delivered; the one that Kafka refused, rather than one that was discarded because of it."""

    error: KafkaError
    message: Message


class TransactionalWriter:
    """A fenced transactional producer. Not thread-safe; one transaction at a time.

    librdkafka (2.16) lacks KIP-890's bump of the producer epoch with each transaction. A request to end a transaction
    (EndTxn) that the network or a broker delays, and that librdkafka repeats meanwhile, can therefore end a part of the
    *next* transaction when it finally arrives. So whenever librdkafka may have sent EndTxn more than once, the next
    transaction needs a new producer of the same transactional id, whose epoch fences the delayed request: then
    ``must_renew`` is true, and ``renew`` creates it. librdkafka never repeats a request before ``retry.backoff.ms`` has
    passed, which shows whether it may have done so.

    Renewing also fences a producer that another process has created meanwhile. A caller that depends on what that one
    has written has to read the log after ``renew``.
    """

    def __init__(self, config: Mapping[str, Any], transactional_id: str, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self.usable = True
        self._ends: dict[Partition, int] = {}
        self._refused: _Refusal | None = None
        self._topics: dict[str, None] = {}
        """The topics to which the open transaction writes."""
        self._is_open = False
        """True from the begin of a transaction until it was committed or aborted."""
        self._fatal: KafkaError | None = None
        """The error after which librdkafka's producer can do nothing more."""
        self._config = config
        self._trouble: list[KafkaError] = []
        """The errors that librdkafka has reported since a broker last answered."""
        self._settings = {
            **DEFAULTS, **common_settings(config), "transactional.id": transactional_id,
            "error_cb": error_callback(config, self._trouble),
        }  # fmt: skip
        self._may_be_repeated = False
        """True if librdkafka may have sent the last EndTxn more than once."""
        self._producer = self._new_producer()
        backoff_ms, longest_ms = (float(self._settings[f"retry.backoff.{name}"]) for name in ("ms", "max.ms"))
        self._repeated_after_s = min(_EARLIEST_RETRY * backoff_ms, longest_ms) / 1000
        self._own_limit_bytes = int(self._settings["message.max.bytes"])  # a number, since librdkafka accepted it
        self._queue_bytes = int(self._settings.get(QUEUE_LIMIT, DEFAULT_QUEUE_KBYTES)) << 10

    def _new_producer(self) -> Producer:
        """Return a new producer, after it has acquired the transactional id."""
        producer = create_client(Producer, self._settings, "setting up the producer")
        doing = f"acquiring the transactional id {self._settings['transactional.id']}"
        self._trouble.clear()

        def init() -> None:
            try:
                producer.init_transactions(min(self._timeout_s, _REFUSED_WITHIN_S))
            except KafkaException:
                producer.poll(0)  # delivers librdkafka's pending errors to the callback
                self._check_accepted(doing)
                raise

        try:
            self._call(doing, init)
        except BaseException as error:
            text = no_answer(doing, self._trouble, producer) if isinstance(error, BrokerUnavailableError) else None
            # The traceback would keep it: once a broker answers, it would acquire the id, and fence the next producer.
            del producer
            if text is None:
                raise
            raise BrokerUnavailableError(text) from error
        self._may_be_repeated = False
        return producer

    def _check_accepted(self, doing: str) -> None:
        """Raise AuthenticationError if the broker refused our credentials, after which librdkafka only times out."""
        for each in self._trouble:
            refusal = translate_error(each, doing)
            if isinstance(refusal, AuthenticationError):
                raise refusal

    @property
    def transactional_id(self) -> str:
        """The transactional id of the producer."""
        return str(self._settings["transactional.id"])

    @property
    def must_renew(self) -> bool:
        """True if the next transaction needs a new producer.

        That is so after a commit that may have been repeated, after a fatal error, and after Kafka refused a record,
        because librdkafka (2.16) then also discards the next records. It is not so if another producer has fenced this
        one: a new producer would fence the other one, which is the newer.
        """
        if self._fatal is not None:
            return not is_fenced_by_another(self._fatal)
        return self._refused is not None or self._may_be_repeated

    def renew(self) -> None:
        """Continue with a new producer of the same transactional id, which fences all others.

        Raises:
            BrokerError: Kafka did not answer or refused.
        """
        self._is_open = False
        self._producer = self._new_producer()
        self._refused = self._fatal = None

    def begin(self) -> None:
        """Begin a transaction.

        Raises:
            UsageError: the writer has to be renewed first.
            BrokerError: Kafka refused.
        """
        if self.must_renew:
            raise UsageError(
                f"beginning a transaction of {self.transactional_id}: after the last transaction, its producer cannot "
                "begin another one; call renew() first"
            )
        doing = "beginning a transaction"
        if self._fatal is not None:
            raise translate_error(self._fatal, doing) from KafkaException(self._fatal)
        self._ends, self._refused = {}, None
        self._topics.clear()
        self._call(doing, self._producer.begin_transaction)
        self._is_open = True

    def send(self, topic: str, key: bytes, value: bytes | None, headers: Headers) -> None:
        """Queue a record of the open transaction, to be sent in the background."""
        self.send_to(Partition(topic, _BY_KEY), key, value, headers)

    def send_to(self, partition: Partition, key: bytes, value: bytes | None, headers: Headers) -> None:
        """Queue a record like ``send``, for a given partition.

        Raises:
            RecordNotSentError: the client refused the record, or the name of a header is not UTF-8.
            PublishError: Kafka refused an earlier record of the transaction, after which the client accepts no other.
        """
        topic, number = partition
        if headers:
            check_sendable(topic, key, headers)
        self._topics[topic] = None
        while True:
            try:
                self._producer.produce(
                    topic, key=key, value=value, headers=list(headers), partition=number, on_delivery=self._delivered
                )
            except BufferError:
                self._wait_for_room(topic, key, value)
            except KafkaException as error:
                cause = self._cause(error)
                raise self._not_handed_over(cause, topic, key, value) from cause
            else:
                self._serve(0)
                return

    def send_all(
        self, topics: Sequence[str], records: Iterable[tuple[bytes, bytes | None, list[tuple[str, str | bytes | None]]]]
    ) -> None:
        """Queue many records of key, value and headers, each for all of the topics.

        This is cheaper per record than ``send``: ``commit`` does not return the offsets of these records. It raises the
        errors of ``send_to``.
        """
        produce, refused = self._producer.produce, self._note_refused
        self._topics.update(dict.fromkeys(topics))
        for number, (key, value, headers) in enumerate(records, 1):
            for topic in topics:
                while True:
                    try:
                        produce(topic, value, key, on_delivery=refused, headers=headers)
                        break
                    except BufferError:
                        self._wait_for_room(topic, key, value)
                    except KafkaException as error:
                        cause = self._cause(error)
                        raise self._not_handed_over(cause, topic, key, value) from cause
            if not number % _POLL_EVERY:
                self._serve(0)

    def wait_for_deliveries(self, rest: int) -> None:
        """Wait until at most ``rest`` of the queued records are not delivered yet.

        Raises:
            PublishError: Kafka refused a record of the transaction.
        """
        while len(self._producer) > rest:
            self._serve(_DELIVERY_POLL_S)
            self._check_refused()

    def commit(self) -> dict[Partition, int]:
        """Commit; return for each partition the offset after the last record from ``send`` or ``send_to``.

        Raises:
            PublishError: the transaction was not committed, and nothing of it is visible; ``abort`` it. If no broker
                answered, the error is a ``PublishUnavailableError``.
            CommitUnknownError: Kafka did not answer in time; the transaction may or may not have been committed.
        """
        # A commit would wait for the records as well, but then it would not be known whether it was requested.
        if self._flush() and self._flush():
            timed_out = KafkaException(KafkaError(KafkaError._MSG_TIMED_OUT))
            raise not_acknowledged(self._sending_all(), self._trouble, self._producer) from timed_out
        try:
            self._end("committing the transaction", self._producer.commit_transaction)
        except BrokerError as error:
            self._check_delivered()  # librdkafka has waited for the records, and does not commit if one of them failed
            is_unknown = isinstance(error, BrokerUnavailableError) or leaves_outcome_unknown(error)
            if not is_unknown and not self._may_be_repeated:
                raise PublishError(str(error)) from error  # the answer to the only request
            self.usable = False
            raise CommitUnknownError(
                f"{error}; within {self._timeout_s:g} s, no answer stated whether the transaction was committed: read "
                "the topic to find out, and continue with a new producer of the same transactional id"
            ) from error
        self._trouble.clear()
        return self._ends

    def _flush(self) -> int:
        """Wait up to the timeout until Kafka has acknowledged the records; return how many are left.

        Raises:
            PublishError: a record was not delivered.
        """
        try:
            left = self._call("sending the transaction's records", self._producer.flush, self._timeout_s)
        except BrokerError as fatal:  # for example, another producer fenced this one
            raise PublishError(str(fatal)) from fatal
        self._check_delivered()
        return left

    def _check_delivered(self) -> None:
        """Raise PublishError if a record of the transaction was not delivered."""
        if self._refused is None:
            return
        if is_consequence(self._refused.error):
            self._check_transaction()
        raise self._refusal(*self._refused) from KafkaException(self._refused.error)

    def _check_transaction(self) -> None:
        """Raise PublishError if the open transaction has failed, with a reason that may be that of no record.

        For example, Kafka may refuse to add a partition to the transaction, without sending a record to it.
        """
        error = self._failure() if self._is_open else None
        if error is not None:
            raise publish_error(error, self._sending_all(), self._trouble, self._producer) from KafkaException(error)

    def _sending_all(self) -> str:
        return f"sending records to {'topic' if len(self._topics) == 1 else 'topics'} {', '.join(self._topics)}"

    def _failure(self) -> KafkaError | None:
        """Return the error that has ended the open transaction or the producer; None if there is none.

        The question would begin a transaction if neither is the case.
        """
        try:
            self._producer.begin_transaction()  # refused in any case: in a good state, because one is open
        except KafkaException as refusal:
            error: KafkaError = refusal.args[0]
            self._note_fatal(error)
            return error if error.fatal() or error.txn_requires_abort() else None
        return None

    def _note_fatal(self, error: KafkaError) -> None:
        if error.fatal():
            self._fatal = error

    def _check_refused(self, error: KafkaError | None = None) -> None:
        """Raise PublishError if Kafka refused a record, while others are still queued.

        The records that librdkafka discards because of the refused one may be reported first: its report is waited for.

        Args:
            error: the error of handing over a record, if librdkafka reports only the state of the transaction.
        """
        give_up_s = time.monotonic() + min(self._timeout_s, _REPORTED_WITHIN_S)
        while self._refused is None or is_consequence(self._refused.error):
            if (self._refused is None and error is None) or not len(self._producer) or time.monotonic() > give_up_s:
                break
            self._serve(_DELIVERY_POLL_S)
        self._check_delivered()

    def _end(self, doing: str, verb: Callable[[float], None]) -> None:
        """Commit or abort, and store whether librdkafka may have sent the request more than once."""
        began_s = time.monotonic()
        try:
            self._call(doing, verb, self._timeout_s)
            self._is_open = False
        finally:
            self._may_be_repeated |= time.monotonic() - began_s >= self._repeated_after_s

    def abort(self) -> None:
        """Abort the open transaction; readers of committed data never see it."""
        try:
            self._end("aborting the transaction", self._producer.abort_transaction)
        except BrokerError:
            self._may_be_repeated = True
            raise

    def close(self) -> None:
        """Close the producer; an open transaction stays open until its timeout or the next producer of the same id."""
        self.usable = False
        with suppress(KafkaException, RuntimeError, SystemError):
            self._producer.purge()
            self._producer.poll(0)

    def check_usable(self) -> None:
        """Check that the producer can begin a transaction.

        Raises:
            UsageError: an earlier transaction ended in a way that only a new producer can resolve.
        """
        if not self.usable:
            raise UsageError(
                "the outcome of this producer's last transaction is not known; continue with a new producer"
            )

    def _wait_for_room(self, topic: str, key: bytes, value: bytes | None) -> None:
        """Wait for room in the full queue.

        Raises:
            RecordNotSentError: the value is larger than the whole queue, which librdkafka reports in the same way.
            PublishError: Kafka refused a record of the transaction.
        """
        if len(value or b"") > self._queue_bytes:
            doing, size_bytes = f"handing over key {key_text(key)} for topic {topic}", len(key) + len(value or b"")
            raise RecordNotSentError(over_own_limit(doing, size_bytes, self._queue_bytes, setting=QUEUE_LIMIT))
        self._serve(0.1)
        self._check_refused()

    def _not_handed_over(
        self, error: KafkaException, topic: str, key: bytes, value: bytes | None
    ) -> RecordNotSentError | PublishError:
        """Return the error for a record that the client does not accept.

        Raises:
            PublishError: Kafka refused an earlier record; then the client accepts no other, and reports only a state.
        """
        doing = f"handing over key {key_text(key)} for topic {topic}"
        if error.args[0].code() == KafkaError._STATE:
            self._check_refused(error.args[0])
            self._check_transaction()
        if error.args[0].code() == KafkaError._STATE or error.args[0].fatal():
            return PublishError(str(translate_error(error.args[0], doing)))
        if is_too_large(error.args[0]):
            return RecordNotSentError(over_own_limit(doing, len(key) + len(value or b""), self._own_limit_bytes))
        return RecordNotSentError(str(translate_error(error, doing)))

    def _cause(self, raised: KafkaException | SystemError) -> KafkaException:
        """Return the error of Kafka behind an exception of its client.

        The client raises a fatal error, such as being fenced, in its callbacks, so that Python chains it to another
        error, or loses it (SystemError); for all later calls librdkafka reports only that the error was fatal.
        """
        error = raised if isinstance(raised, KafkaException) else raised.__cause__
        if isinstance(error, KafkaException) and error.args[0].code() != KafkaError._FATAL:
            self._note_fatal(error.args[0])
            return error
        is_known_fatal = isinstance(error, KafkaException)
        # There is no producer yet while the first one is created.
        if hasattr(self, "_producer") and (self._is_open or is_known_fatal):
            failure = self._failure()
            if failure is not None and failure.fatal():
                return KafkaException(failure)
        if isinstance(error, KafkaException):
            return error
        return KafkaException(KafkaError(KafkaError._FAIL, f"Kafka's client failed without giving a reason ({raised})"))

    def _refusal(self, error: KafkaError, message: Message) -> PublishError:
        """Return the error for a record that was not delivered."""
        doing = _sending(message)
        if not is_too_large(error):
            return publish_error(error, doing, self._trouble, self._producer)
        size_bytes = len(message.key() or b"") + len(message.value() or b"")
        return PublishError(over_kafkas_limit(doing, self._config, message.topic() or "", size_bytes, self._timeout_s))

    def _note_refused(self, error: KafkaError | None, message: Message) -> None:
        if error is None:
            self._trouble.clear()  # a broker answered
        elif self._refused is None or is_consequence(self._refused.error):
            self._refused = _Refusal(error, message)

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        self._note_refused(error, message)
        if error is not None:
            return
        partition = Partition(message.topic() or "", message.partition() or 0)
        self._ends[partition] = max(self._ends.get(partition, 0), (message.offset() or 0) + 1)

    def _serve(self, timeout_s: float) -> None:
        """Let librdkafka deliver its delivery reports, waiting up to ``timeout_s`` seconds for the first.

        Raises:
            PublishError: the transaction has failed.
        """
        try:
            self._call("sending records", self._producer.poll, timeout_s)
        except BrokerError as error:
            raise PublishError(str(error)) from error

    def _call(self, doing: str, verb: Callable[..., T], *args: Any) -> T:
        """Call a function; retry while librdkafka considers the error retriable and the timeout has not passed."""
        give_up_s = time.monotonic() + self._timeout_s
        while True:
            try:
                return verb(*args)
            except (KafkaException, SystemError) as raised:
                error = self._cause(raised)
                if not error.args[0].retriable() or time.monotonic() >= give_up_s:
                    raise translate_error(error, doing) from error
                time.sleep(_RETRY_S)


def _sending(message: Message) -> str:
    return f"sending key {key_text(message.key() or b'')} to topic {message.topic() or ''}"
