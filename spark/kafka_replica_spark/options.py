"""The options of the data source, and the version that they select."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, NamedTuple

from kafka_replica import Replica, Snapshot
from kafka_replica.common.secret_values import hide_secrets
from kafka_replica.errors import ConfigurationError
from kafka_replica.stores.read_only import StoredVersion, look
from kafka_replica_spark.tables import VIEWS, Selection, View

_KAFKA: Final = "kafka."
_SERVERS: Final = "bootstrap.servers"
_KNOWN: Final = (
    "agency",
    "id",
    "maxBytes",
    "sliceBytes",
    "store",
    "timeoutSeconds",
    "topic",
    "version",
    "view",
)
_MIB: Final = 1 << 20


class Options(NamedTuple):
    """The validated options of a read."""

    view: View
    selection: Selection
    kafka: dict[str, str]
    topics: tuple[str, ...]
    store: str | None
    timeout_s: float
    max_bytes: int
    slice_bytes: int


def parse_options(given: Mapping[str, str]) -> Options:
    """Return the validated options; the names of options are case-insensitive.

    Raises:
        ConfigurationError: an option is missing, unknown or invalid, or two options contradict each other.
    """
    plain = {name.lower(): value for name, value in given.items()}
    kafka = hide_secrets({name[len(_KAFKA) :]: plain.pop(name) for name in list(plain) if name.startswith(_KAFKA)})
    unknown = set(plain) - {name.lower() for name in _KNOWN} - {"path"}
    if unknown:
        raise _wrong(f"unknown option {', '.join(sorted(unknown))}; options are kafka.*, {', '.join(_KNOWN)}")
    store = plain.get("store", plain.get("path"))
    topics = tuple(name.strip() for name in plain.get("topic", "").split(",") if name.strip())
    _check_source(kafka, topics, store)
    view = VIEWS.get(plain.get("view", ""))
    if view is None:
        raise _wrong(f"view={plain.get('view')!r} is not possible; it is one of {', '.join(VIEWS)}")
    return Options(
        view,
        Selection(plain.get("agency", "*"), plain.get("id", "*"), plain.get("version", "*")),
        kafka,
        topics,
        store,
        _number(plain, "timeoutSeconds", 120.0),
        int(_number(plain, "maxBytes", 256 * _MIB)),
        int(_number(plain, "sliceBytes", 4 * _MIB)),
    )


@contextmanager
def snapshot_of(options: Options) -> Iterator[Snapshot]:
    """Yield the version that the options select, for the duration of the block.

    Raises:
        KafkaReplicaError: the broker or the store cannot provide a version; the message gives the reason.
    """
    if options.store is not None:
        yield _of_store(look(options.store), options)
        return
    replica = Replica(options.kafka, topics=options.topics, one_key_space=True, wait_for_topic=False)
    with replica:
        yield replica.wait_ready(options.timeout_s)


def _of_store(stored: StoredVersion, options: Options) -> Snapshot:
    """Return the version, or the selected topic of it if the topics of the store have separate key spaces."""
    snapshot = stored.snapshot
    there = sorted({partition.topic for partition in snapshot.position})
    missing = sorted(set(options.topics) - set(there))
    if missing:
        raise _wrong(f"the store in {options.store} contains {', '.join(there)}, but no topic {', '.join(missing)}")
    if stored.has_key_spaces:
        if len(set(options.topics)) != 1:
            raise _wrong(
                f"the topics {', '.join(there)} of the store in {options.store} have separate key spaces: select one "
                "of them with topic"
            )
        return snapshot.of(options.topics[0])
    if options.topics and set(options.topics) != set(there):
        raise _wrong(
            f"the store in {options.store} contains the topics {', '.join(there)} as one key space; leave topic out"
        )
    return snapshot


def _check_source(kafka: Mapping[str, str], topics: tuple[str, ...], store: str | None) -> None:
    if store is None and not (kafka.get(_SERVERS) and topics):
        raise _wrong(f"give kafka.{_SERVERS} and topic, or store (a folder, or a checkpoint file, on the driver)")
    if store is not None and kafka:
        raise _wrong("kafka.* and store exclude each other: a store is read as it is, without a broker")


def _number(plain: Mapping[str, str], name: str, default: float) -> float:
    text = plain.get(name.lower())
    try:
        number = default if text is None else float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise _wrong(f"{name}={text!r} is not a number above 0")
    return number


def _wrong(what: str) -> ConfigurationError:
    return ConfigurationError(f'reading format("kafka_replica"): {what}')
