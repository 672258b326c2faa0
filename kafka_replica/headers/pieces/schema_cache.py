"""A client of a schema registry that keeps schemas in a file, so that it works while the registry is unavailable."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock
from typing import Any, Final, Literal, TypeVar

from kafka_replica.common.secret_values import SecretUrl
from kafka_replica.errors import ConfigurationError, MissingExtraError, StoreError
from kafka_replica.headers.errors import ServiceUnavailableError
from kafka_replica.headers.pieces.service_failures import (
    has_code_of_registry,
    is_about_schema,
    is_foreign_not_found,
    is_refusal,
)

try:
    from confluent_kafka.schema_registry import SchemaRegistryClient
    from confluent_kafka.schema_registry.common.schema_registry_client import Association, RegisteredSchema, Schema
    from confluent_kafka.schema_registry.error import SchemaRegistryError
except ImportError as error:
    raise MissingExtraError("querying a schema registry", "schema-registry") from error

T = TypeVar("T")

_REQUEST_S: Final = 3.0  # the closing of a replica waits for a request; all URLs are tried in turn
_LEAST_TIMEOUT_S: Final = 1.0
_CHECK_ACCESS: Final = "check the credentials, and the registry's log"
_CHECK_URL: Final = "check the registry's URL, and that it runs and can be reached from here"
_CHECK_PROXY: Final = "check the registry's URL, and that it runs behind its proxy, if there is one"


class CachedRegistryClient(SchemaRegistryClient):
    """Confluent's client with a file of responses that never change: schemas by id, GUID or version.

    Responses in the file are not requested again. The association of a topic with subjects can change: it is always
    requested from the registry, and the last response is used while the registry does not answer. Requests for the
    newest version of a subject always go to the registry. Thread-safe; several processes may share the file.

    The methods that serializers use raise ``ServiceUnavailableError`` if the registry does not answer or refuses
    access, ``StoreError`` if the file cannot be written, and Confluent's ``SchemaRegistryError`` if there is no such
    schema, or it is not accepted. A "404 Not Found" without a registry's error code, such as that of a proxy whose
    registry restarts, or of another service at a wrong URL, counts as no answer. The messages name the request and the
    registry's URL, without a password.

    Args:
        config: the properties of Confluent's client, such as ``{"url": "http://localhost:8081"}``. The defaults differ
            from Confluent's, because the closing of a replica waits for a request: the registry has 3 s to respond
            (``timeout``), divided by the number of URLs, but at least 1 s for each; and no request is repeated
            (``max.retries``), because replicas try again themselves.
        file: the file, which is created if it does not exist.

    Raises:
        ConfigurationError: the file cannot be read.
    """

    def __init__(self, config: Mapping[str, Any], file: str | os.PathLike[str]) -> None:
        urls = str(config.get("url", "")).split(",")
        defaults = {"timeout": max(_LEAST_TIMEOUT_S, _REQUEST_S / len(urls)), "max.retries": 0}
        super().__init__({**defaults, **config})
        self._shown_url = ",".join(SecretUrl(url.strip()).shown for url in urls)
        self._file = Path(file)
        self._responses = _read(self._file)
        self._file_lock = Lock()

    def get_schema(
        self,
        schema_id: int,
        subject_name: str | None = None,
        fmt: str | None = None,
        reference_format: str | None = None,
    ) -> Schema:
        """Return the schema with an id."""
        request = "schema", schema_id, subject_name, fmt, reference_format
        fetch = super().get_schema
        what = f"schema {schema_id}"
        return self._cached_response(
            request, what, Schema, lambda: fetch(schema_id, subject_name, fmt, reference_format)
        )

    def get_schema_by_guid(self, guid: str, fmt: str | None = None) -> Schema:
        """Return the schema with a GUID."""
        fetch = super().get_schema_by_guid
        what = f"the schema with GUID {guid}"
        return self._cached_response(("guid", guid, fmt), what, Schema, lambda: fetch(guid, fmt))

    def get_version(
        self,
        subject_name: str,
        version: int | Literal["latest"] = "latest",
        deleted: bool = False,
        fmt: str | None = None,
    ) -> RegisteredSchema:
        """Return a version of a subject's schema."""
        fetch = super().get_version
        what = f"version {version} of subject {subject_name}"
        if version == "latest":
            return self._fetch_translated(what, lambda: fetch(subject_name, version, deleted, fmt))
        request = "version", subject_name, version, deleted, fmt
        return self._cached_response(
            request, what, RegisteredSchema, lambda: fetch(subject_name, version, deleted, fmt)
        )

    def get_latest_version(self, subject_name: str, fmt: str | None = None) -> RegisteredSchema:
        """Return the newest version of a subject's schema."""
        fetch = super().get_latest_version
        return self._fetch_translated(f"the newest version of subject {subject_name}", lambda: fetch(subject_name, fmt))

    def get_latest_with_metadata(
        self, subject_name: str, metadata: dict[str, str], deleted: bool = False, fmt: str | None = None
    ) -> RegisteredSchema:
        """Return the newest version of a subject's schema that has these metadata."""
        what = f"the newest version of subject {subject_name} with the metadata {metadata}"
        fetch = super().get_latest_with_metadata
        return self._fetch_translated(what, lambda: fetch(subject_name, metadata, deleted, fmt))

    def lookup_schema(
        self,
        subject_name: str,
        schema: Schema,
        normalize_schemas: bool = False,
        fmt: str | None = None,
        deleted: bool = False,
    ) -> RegisteredSchema:
        """Return the registration of a schema under a subject."""
        what = f"the id of the schema under subject {subject_name}"
        fetch = super().lookup_schema
        return self._fetch_translated(what, lambda: fetch(subject_name, schema, normalize_schemas, fmt, deleted))

    def register_schema_full_response(
        self, subject_name: str, schema: Schema, normalize_schemas: bool = False
    ) -> RegisteredSchema:
        """Register a schema under a subject."""
        what = f"the registration of a schema under subject {subject_name}"
        register = super().register_schema_full_response
        return self._fetch_translated(what, lambda: register(subject_name, schema, normalize_schemas))

    def get_associations_by_resource_name(
        self,
        resource_name: str,
        resource_namespace: str,
        resource_type: str | None = None,
        association_types: list[str] | None = None,
        offset: int = 0,
        limit: int = -1,
    ) -> list[Association]:
        """Return the subjects that are associated with a topic."""
        arguments = resource_name, resource_namespace, resource_type, association_types, offset, limit
        request, what = json.dumps(("associations", *arguments)), f"the subjects of {resource_name}"
        fetch = super().get_associations_by_resource_name
        try:
            found = self._fetch_translated(what, lambda: _empty_if_not_found(lambda: fetch(*arguments)))
        except ServiceUnavailableError as error:
            if request in self._responses:
                return [Association.from_dict(each) for each in self._responses[request]]
            if not is_foreign_not_found(error.__cause__):
                raise
            self._check_is_there(what, resource_name)
            # If the registry, which is there, still does not know the path, it does not support associations.
            found = self._fetch_translated(what, lambda: _empty_if_not_found(lambda: fetch(*arguments), is_there=True))
        self._save_response(request, [each.to_dict() for each in found])
        return found

    def _check_is_there(self, what: str, prefix: str) -> None:
        """Check that a registry answers, by a request that all registries support.

        Args:
            what: the object that was requested before, for the message.
            prefix: limits the size of the answer, if the registry supports that.

        Raises:
            ServiceUnavailableError: no registry answers, so that what was requested may exist.
        """
        fetch = super().get_subjects
        try:
            self._fetch_translated(what, lambda: fetch(subject_prefix=prefix))
        except SchemaRegistryError:
            return  # with the error code of a registry
        except ServiceUnavailableError as error:
            if not has_code_of_registry(error.__cause__):  # it has one if the registry refuses to list its subjects
                raise

    def _cached_response(self, request: tuple[object, ...], what: str, kind: Any, fetch: Callable[[], T]) -> T:
        name = json.dumps(request)
        if name in self._responses:
            response: T = kind.from_dict(self._responses[name])
            return response
        fetched: Any = self._fetch_translated(what, fetch, f", and {self._file} does not have it")
        self._save_response(name, fetched.to_dict())
        return fetched  # type: ignore[no-any-return]

    def _fetch_translated(self, what: str, fetch: Callable[[], T], not_in_file: str = "") -> T:
        """Return a response of the registry; errors name the request and the registry.

        Args:
            what: the requested object.
            fetch: requests the object.
            not_in_file: the part of the message that states that the file does not have it either.
        """
        doing = f"requesting {what} from the schema registry at {self._shown_url}"
        try:
            return fetch()
        except SchemaRegistryError as error:
            if is_about_schema(error):
                message = f"{doing}: {error.error_message}"
                raise SchemaRegistryError(error.http_status_code, error.error_code, message) from error
            if is_foreign_not_found(error):
                raise ServiceUnavailableError(
                    f"{doing}: the answer is not about it, and perhaps not from a schema registry ({error})"
                    f"{not_in_file}; {_CHECK_PROXY}"
                ) from error
            raise ServiceUnavailableError(
                f"{doing}: it refused: {error}; {_CHECK_ACCESS}", is_refusal=is_refusal(error)
            ) from error
        except Exception as error:  # the errors of the HTTP library that Confluent's client uses
            reason = str(error) or type(error).__name__
            raise ServiceUnavailableError(
                f"{doing}: it does not answer ({reason}){not_in_file}; {_CHECK_URL}", is_refusal=is_refusal(error)
            ) from error

    def _save_response(self, request: str, response: Any) -> None:
        with self._file_lock:
            if self._responses.get(request) == response:
                return
            try:
                _append_line(self._file, json.dumps([request, response]).encode())
            except OSError as error:
                raise StoreError(
                    f"writing schemas to {self._file}: {error.strerror}; make it writable, or free some space"
                ) from error
            # Only now, so that a response that could not be written is written the next time.
            self._responses[request] = response


def _empty_if_not_found(fetch: Callable[[], list[Association]], *, is_there: bool = False) -> list[Association]:
    """Return a response, which is empty if the registry answers 404, or with ``is_there`` if anything does."""
    try:
        return fetch()
    except SchemaRegistryError as error:
        if error.http_status_code == 404 and (is_there or is_about_schema(error)):
            return []
        raise


def _append_line(file: Path, line: bytes) -> None:
    """Append a line in one write, because other processes may append to the same file."""
    with file.open("ab+", buffering=0) as log:
        end = log.seek(0, os.SEEK_END)
        if end:
            log.seek(end - 1)
            if log.read(1) != b"\n":  # another write was interrupted or incomplete; its line stays unreadable
                line = b"\n" + line
        line += b"\n"
        if log.write(line) < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _read(file: Path) -> dict[str, Any]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"the file of schemas {file} cannot be read: {error}") from error
    responses: dict[str, Any] = {}
    for line in lines:
        try:
            request, response = json.loads(line)
        except (TypeError, ValueError):
            continue  # an incomplete line of a process that was killed
        responses[str(request)] = response
    return responses
