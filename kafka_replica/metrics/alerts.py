"""The declaration of all alerts and recording rules for Prometheus.

``rules_file`` writes them in Prometheus' format; docs/alerts.md has the same table.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Alert(NamedTuple):
    """An alert.

    Attributes:
        name: the name of the alert.
        expression: the condition, in PromQL.
        wait: the time for which the condition must hold, as a duration of Prometheus such as ``5m``.
        severity: ``critical`` if an operator must act immediately, ``warning`` if the problem can wait until working
            hours.
        summary: the problem, with the labels of the series.
        effect: the consequences for users.
        action: the recommended action.
    """

    name: str
    expression: str
    wait: str
    severity: str
    summary: str
    effect: str
    action: str


class RecordingRule(NamedTuple):
    """A series that Prometheus computes in advance."""

    name: str
    expression: str


_REPLICA: Final = "the replica {{ $labels.replica }} of {{ $labels.topic }}"
_OF_USERS: Final = 'route!~"live|ready|metrics"'
"""Requests except those of probes and of Prometheus, because probes get 503 while the first version is read."""
_PRODUCER: Final = "the producer {{ $labels.producer }}"


def _disappeared(metric: str, labels: str) -> str:
    """Return the condition that series existed within the last hour, but do not exist now.

    Other conditions cannot detect this, because they are not evaluated without series.
    """
    return f"count by ({labels}) (last_over_time({metric}[1h])) unless count by ({labels}) ({metric})"


def _counted(counter: str, window: str) -> str:
    """Return the condition that a process has counted something within a time, or before it was scraped first.

    Without a lower earlier value, ``increase`` does not notice what was counted before the first scrape. A gap of less
    than an hour in scraping does not count as the start of a process.
    """
    return f"increase({counter}[{window}]) > 0 or ({counter} > 0 unless last_over_time({counter}[1h] offset {window}))"


RECORDING_RULES: Final = (
    RecordingRule("kafka_replica:lag_seconds:max", "max by (replica, topic) (kafka_replica_lag_seconds)"),
    RecordingRule("kafka_replica:records:rate5m", "sum by (replica, topic) (rate(kafka_replica_records_total[5m]))"),
    RecordingRule("kafka_replica:versions:rate5m", "sum by (replica, topic) (rate(kafka_replica_versions_total[5m]))"),
    RecordingRule("kafka_replica_http:requests:rate5m", "sum by (route) (rate(kafka_replica_http_requests_total[5m]))"),
    RecordingRule(
        "kafka_replica_http:errors:ratio_rate5m",
        f'(sum(rate(kafka_replica_http_requests_total{{{_OF_USERS},status=~"5..",status!="501"}}[5m])) or vector(0))'
        f" / sum(rate(kafka_replica_http_requests_total{{{_OF_USERS}}}[5m]))"
        " or 0 * sum(rate(kafka_replica_http_requests_total[5m]))",  # while there are only probes
    ),
    RecordingRule(
        "kafka_replica_http:request_duration_seconds:p99",
        "histogram_quantile(0.99, sum by (route, le) "
        '(rate(kafka_replica_http_request_duration_seconds_bucket{route!="changes"}[5m])))',  # streams have no end
    ),
)

ALERTS: Final = (
    Alert(
        "KafkaReplicaFailed",
        'kafka_replica_state{state="failed"} == 1',
        "0s",
        "critical",
        f"{_REPLICA} has failed and shows its last version only",
        "Users of the replica get answers from the last version, which grows older. Nothing newer is read until the "
        "process is started again.",
        "Read the ERROR line of its log, which names the cause and what to do, and restart the process afterwards.",
    ),
    Alert(
        "KafkaReplicaMissing",
        _disappeared("kafka_replica_ready", "replica, topic"),
        "5m",
        "critical",
        f"no instance of {_REPLICA} is scraped any more",
        "Either no process follows the topic and users of the replica get no answers or old ones, or Prometheus does "
        "not find the process.",
        "See whether instances run and are targets of Prometheus, and whether a program has closed its replica: other "
        "alerts of this replica cannot fire. If it was retired, the alert ends by itself within an hour.",
    ),
    Alert(
        "KafkaReplicaStalled",
        'kafka_replica_state{state="stalled"} == 1',
        "1m",
        "critical",
        f"{_REPLICA} gets no answer from the brokers, or from a service that its header stack needs",
        "Users of the replica get answers from the last version. Changes that were made since then are missing.",
        "The status page of the service and the log name the cause. Check that the brokers run and can be reached "
        "(`kafka-replica doctor`), and the services for keys or schemas. The replica continues by itself.",
    ),
    Alert(
        "KafkaReplicaBlocked",
        'kafka_replica_state{state="blocked"} == 1',
        "5m",
        "warning",
        f"{_REPLICA} waits for an open transaction",
        "A producer has left a transaction open, and the next version waits for it. Users of the replica get answers "
        "from the last version.",
        "The status page of the service names the partition and the offset, as does `kafka-replica status`, which "
        "reads the topic into a replica of its own; `kafka-transactions.sh find-hanging` names the producer. The "
        "transaction ends at its timeout, or when its producer starts again.",
    ),
    Alert(
        "KafkaReplicaNotReady",
        "kafka_replica_ready == 0",
        "15m",
        "warning",
        f"{_REPLICA} is still not ready",
        "Users get answers from the version before the restart or rebuild, or none if there is no such version, "
        "because the topic has not been read to its end yet.",
        "Compare `kafka_replica_position` with `kafka_replica_barrier_offset`: if it moves, the topic is large and "
        "needs more time, or a store on disk; if not, look at the state and the log.",
    ),
    Alert(
        "KafkaReplicaLagging",
        "kafka_replica_lag_seconds > 60",
        "1m",
        "warning",
        f"{_REPLICA} is {{{{ $value | humanizeDuration }}}} behind the topic",
        "Users of the replica get whole versions, but changes reach them late.",
        "Look at the processor time of the process and at listeners that take long; several partitions may wait for an "
        "open transaction in one of them.",
    ),
    Alert(
        "KafkaReplicaStale",
        "kafka_replica_stale == 1",
        "15m",
        "warning",
        f"{_REPLICA} still shows the version from before its restart or rebuild",
        "Users of the replica get answers, but of the past: the topic has not been read to its end since then.",
        "The replica is reading newer records. If `kafka_replica_position` does not move, look at the state and the "
        "log.",
    ),
    Alert(
        "KafkaReplicaBadRecords",
        _counted("kafka_replica_bad_records_total", "15m"),
        "0s",
        "warning",
        f"{_REPLICA} has left out a record that it cannot replicate",
        "All other records are shown. A program that needs one of the missing keys does not find it.",
        "The log and `replica.bad_records` name them with key, offset and reason. Have the writer repair them: the "
        "keys are absent until then.",
    ),
    Alert(
        "KafkaReplicaDirectoryFailed",
        "kafka_replica_directory_failed == 1",
        "0s",
        "critical",
        "the directory {{ $labels.directory }} raises an error at each look-up",
        "Programs that look up objects in the directory get an error, and its listeners are not called. Other "
        "directories of the same replica, and the replica itself, continue.",
        "The ERROR line of the log and `directory.error` name the record with key, topic, partition and offset, and "
        "the reason. For a bad record, publish its key again or delete it: the directory then continues by itself. If "
        "the line names no bad record, start the program again after correcting the cause.",
    ),
    Alert(
        "KafkaReplicaDirectoryBadRecords",
        "kafka_replica_directory_bad_records > 0 unless kafka_replica_directory_failed == 1",
        "0s",
        "warning",
        "the directory {{ $labels.directory }} leaves out {{ $value }} bad records",
        "All other objects are found. A program that needs one of the missing keys does not find it.",
        "The log and `directory.bad_records` name them with key, offset and reason. Publish the keys again or delete "
        "them; if a function or a type of the program is wrong instead, correct that.",
    ),
    Alert(
        "KafkaReplicaUnconfirmedEnds",
        _counted("kafka_replica_unconfirmed_ends_total", "15m"),
        "0s",
        "warning",
        f"{_REPLICA} could not exclude that a partition has a newer leader",
        "Too few brokers with a copy of a partition answered, so a transaction over several partitions could be "
        "shown in two steps; the next version is whole again.",
        "The log and the status page name the partitions. Start the brokers that do not answer. With three copies and "
        "`min.insync.replicas=2`, one broker may be down without this alert: `kafka-replica doctor` checks the "
        "setting, which the replica has to be allowed to read (DescribeConfigs).",
    ),
    Alert(
        "KafkaReplicaRebuilt",
        _counted("kafka_replica_rebuilds_total", "1h"),
        "0s",
        "warning",
        f"{_REPLICA} has rebuilt its state",
        "Users of the replica got answers from the old version meanwhile, and get the new one now.",
        "The Kafka log was replaced or truncated, or the store was damaged; the log line states the reason. Find out "
        "who deletes the topic, or check the disk.",
    ),
    Alert(
        "KafkaReplicaListenerErrors",
        _counted("kafka_replica_listener_errors_total", "15m"),
        "0s",
        "warning",
        f"a listener of {_REPLICA} raises exceptions",
        "The replica itself is up to date. What the listener derives from it, such as an index or a cache, may not be.",
        "The log has the stack trace; the listener continues with the next version.",
    ),
    Alert(
        "KafkaReplicaDanglingReferences",
        "kafka_replica_sdmx_dangling_references > 0",
        "15m",
        "warning",
        "structures of {{ $labels.replica }} refer to structures that do not exist",
        "Validation and mapping with these structures fail, or leave out checks.",
        "The source has published something incomplete: the log names the references. Have the source publish the "
        "missing structures. In Python, `structures.dangling_references()` returns the references.",
    ),
    Alert(
        "KafkaReplicaUnreadableStructures",
        "kafka_replica_sdmx_unreadable_records > 0",
        "5m",
        "warning",
        "structures of {{ $labels.replica }} cannot be read",
        "Look-ups of these structures fail; all others work.",
        "The log names them with the reason. Have the source publish them again.",
    ),
    Alert(
        "KafkaReplicaCacheTooSmall",
        "rate(kafka_replica_sdmx_cache_evictions_total[15m]) > 1",
        "1h",
        "warning",
        "structures of {{ $labels.replica }} are decoded again and again",
        "Answers are right, but take longer and use more processor time than they need.",
        "Raise the bound of the cache of decoded messages, as far as memory permits: the setting `decoded_bytes` of "
        "the service, `decode_cache.max_bytes` in Python.",
    ),
    Alert(
        "KafkaReplicaHttpErrors",
        "kafka_replica_http:errors:ratio_rate5m > 0.01",
        "5m",
        "critical",
        "{{ $value | humanizePercentage }} of the requests to the service fail",
        "Users of the service get errors instead of answers. A program that embeds a replica is not affected.",
        "The access log names the requests by their ids. 503 means that there is no version yet, or that a limit on "
        "time or on the number of requests is reached; 500 is a fault of kafka_replica. Health checks, and 501 for "
        "queries that are not supported, are not counted.",
    ),
    Alert(
        "KafkaReplicaHttpSlow",
        "kafka_replica_http:request_duration_seconds:p99 > 2",
        "15m",
        "warning",
        "requests to {{ $labels.route }} take {{ $value | humanizeDuration }} (p99)",
        "Users wait, and clients with a short timeout give up.",
        "Look at the processor time; raise `threads` or start a second process behind a load balancer.",
    ),
    Alert(
        "KafkaReplicaProducerFailed",
        'kafka_replica_producer_state{state="failed"} == 1',
        "0s",
        "critical",
        f"{_PRODUCER} has failed and publishes nothing",
        "Changes are recorded in the database, but do not reach Kafka. Nothing is lost.",
        "`kafka-replica producer status` names the transaction and the reason; correct it, then `producer resume`.",
    ),
    Alert(
        "KafkaReplicaProducerSuspended",
        'kafka_replica_producer_state{state="suspended"} == 1',
        "1h",
        "warning",
        f"{_PRODUCER} has been suspended for an hour",
        "Changes are recorded in the database, but do not reach Kafka until the producer is resumed.",
        "`kafka-replica producer resume`, once the reason of the suspension no longer applies.",
    ),
    Alert(
        "KafkaReplicaProducerWithoutLeader",
        "sum by (producer, topic) (kafka_replica_producer_leader) != 1",
        "2m",
        "critical",
        f"{{{{ $value }}}} instances of {_PRODUCER} publish instead of one",
        "With no such instance, changes wait in the database. With several, each publishes the changes of its own "
        "database to the same topic.",
        "With none, see whether instances run and reach the database; with several, their databases differ: give each "
        "database a producer id of its own.",
    ),
    Alert(
        "KafkaReplicaProducerMissing",
        _disappeared("kafka_replica_producer_leader", "producer, topic"),
        "5m",
        "critical",
        f"no instance of {_PRODUCER} is scraped any more",
        "Either no process runs and changes wait in the database, or Prometheus does not find the process.",
        "See whether instances run and are targets of Prometheus: other alerts of this producer cannot fire. If it was "
        "retired, the alert ends by itself within an hour.",
    ),
    Alert(
        "KafkaReplicaProducerBehind",
        "kafka_replica_producer_oldest_pending_age_seconds > 60",
        "1m",
        "warning",
        f"{_PRODUCER} has not sent a transaction for {{{{ $value | humanizeDuration }}}}",
        "Changes reach replicas late. They are kept in the database, in their order.",
        "Look at its state and at `kafka_replica_producer_retrying`: Kafka may be unavailable, or too slow.",
    ),
    Alert(
        "KafkaReplicaProducerRetrying",
        "kafka_replica_producer_retrying == 1",
        "2m",
        "warning",
        f"{_PRODUCER} retries, since Kafka does not accept its records",
        "Changes wait in the database and are sent in their order, each once, as soon as Kafka accepts them.",
        "Check the brokers; nothing is lost meanwhile.",
    ),
    Alert(
        "KafkaReplicaProducerSourceDown",
        "kafka_replica_producer_source_up == 0",
        "5m",
        "warning",
        f"the source of {_PRODUCER} cannot be read",
        "Replicas show the topic as it was; changes of the source are missing.",
        "Repair the source; the topic is left unchanged.",
    ),
    Alert(
        "KafkaReplicaProducerDatabaseDown",
        "kafka_replica_producer_database_up == 0",
        "1m",
        "critical",
        f"the database of {_PRODUCER} does not answer",
        "No change can be recorded or sent. Replicas show the topic as it was.",
        "Restore the database; the producer continues by itself.",
    ),
    Alert(
        "KafkaReplicaProducerLeavesOut",
        "increase(kafka_replica_producer_left_out_records_total[15m]) > 0",
        "0s",
        "warning",
        f"{_PRODUCER} leaves out records that its format cannot represent",
        "Replicas do not get these records; all others are published.",
        "The log names them; choose a format that can represent them.",
    ),
)
