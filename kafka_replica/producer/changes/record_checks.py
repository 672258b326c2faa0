"""Checks of content before it is recorded, because content that can never be sent would stop the producer later."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from kafka_replica.broker.writing.size_limits import over_own_limit
from kafka_replica.broker.writing.writer import own_limit
from kafka_replica.producer.changes.changes import Put
from kafka_replica.producer.changes.encoding import Encoder, as_recorded
from kafka_replica.producer.errors import EncodingError
from kafka_replica.records import key_bytes, key_text


def validator_of(encoder: Encoder, media_type: str, kafka: Mapping[str, Any]) -> Callable[[Put], None]:
    """Return a function that checks that content can be written in the producer's format and within the size limit.

    The function raises EncodingError. It accepts content that the format cannot represent, which is omitted and counted
    when it is sent.

    Args:
        encoder: turns content into the value that is sent.
        media_type: the producer's format.
        kafka: librdkafka's or Java's properties, from which the size limit is read.
    """
    read_limit = cache(lambda: own_limit(kafka))  # lazy, because it may read key stores

    def validate(put: Put) -> None:
        key, value = key_bytes(put.key), put.value
        doing = f"recording {key_text(key)}"
        if encoder is not as_recorded:
            try:
                encoded = encoder(key, value, put.content_type, media_type)
            except Exception as error:
                format_name = media_type or "the producer's format"
                raise EncodingError(
                    f"{doing}: it cannot be sent as {format_name}: {error}; it was not recorded"
                ) from error
            value = b"" if encoded is None else encoded.value
        size_bytes, limit = len(key) + len(value), read_limit()
        if size_bytes > limit.size_bytes:
            raise EncodingError(over_own_limit(doing, size_bytes, limit.size_bytes, "recorded", setting=limit.setting))

    return validate
