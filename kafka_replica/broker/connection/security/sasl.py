"""Translate librdkafka's ``sasl.*`` properties to aiokafka's arguments."""

from __future__ import annotations

import importlib
from typing import Any

from kafka_replica.broker.connection.security.oauth import TokenProvider, callback_tokens, unsecured_tokens
from kafka_replica.broker.connection.security.properties import Properties, refused, wrong
from kafka_replica.errors import ConfigurationError

_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "GSSAPI")
_DEFAULT_MECHANISM = "GSSAPI"
_KNOWN = frozenset({"sasl.mechanism", "sasl.mechanisms", "sasl.username", "sasl.password"})
_PREFIXES = ("sasl.kerberos.", "sasl.oauthbearer.")
# librdkafka runs kinit with these properties. Here, the ticket that kinit (or the user) has fetched is read from the
# Kerberos cache.
_KERBEROS = frozenset({
    "sasl.kerberos.keytab", "sasl.kerberos.kinit.cmd", "sasl.kerberos.min.time.before.relogin",
    "sasl.kerberos.principal", "sasl.kerberos.service.name",
})  # fmt: skip


def sasl_arguments(properties: Properties) -> dict[str, Any]:
    """Return the SASL arguments of aiokafka's connection.

    Raises:
        ConfigurationError: the mechanism is unknown or impossible here, or lacks a property.
    """
    mechanism = _mechanism(properties)
    for name in properties.names("sasl."):
        if name not in _KNOWN and not name.startswith(_PREFIXES):
            raise refused(name, "it is not supported")
    if mechanism == "GSSAPI":
        more = _kerberos(properties)
    elif mechanism == "OAUTHBEARER":
        more = {"sasl_oauth_token_provider": _token_provider(properties)}
    else:
        more = _name_and_password(properties, mechanism)
    return {"sasl_mechanism": mechanism, **more}


def _mechanism(properties: Properties) -> str:
    mechanism = properties.text("sasl.mechanism") or _DEFAULT_MECHANISM
    if mechanism not in _MECHANISMS:
        name = properties.written("sasl.mechanism")
        raise wrong(name, f"is {mechanism!r}; it has to be one of {', '.join(_MECHANISMS)}, in capitals")
    return mechanism


def _name_and_password(properties: Properties, mechanism: str) -> dict[str, Any]:
    user, password = properties.text("sasl.username"), properties.text("sasl.password")
    if user is None or password is None:
        missing = "sasl.username" if user is None else "sasl.password"
        raise wrong(missing, f"is missing; {mechanism} needs it")
    return {"sasl_plain_username": user, "sasl_plain_password": password}


def _kerberos(properties: Properties) -> dict[str, Any]:
    for name in properties.names("sasl.kerberos."):
        if name not in _KERBEROS:
            raise refused(name, "it is not supported")
    try:
        importlib.import_module("gssapi")
    except ImportError as error:
        raise ConfigurationError(
            "sasl.mechanism=GSSAPI (Kerberos; the default) needs the package gssapi when markers are read, "
            f"which cannot be imported ({error}): install the system's Kerberos with its development files, then "
            'pip install gssapi; or use boundaries="quiescence" with a confluent-kafka that was built with Kerberos'
        ) from error
    return {"sasl_kerberos_service_name": properties.text("sasl.kerberos.service.name") or "kafka"}


def _token_provider(properties: Properties) -> TokenProvider:
    callback = properties.object("oauth_cb")
    unsecured = properties.flag("enable.sasl.oauthbearer.unsecure.jwt", default=False)
    oidc = properties.choice("sasl.oauthbearer.method", "default", ("default", "oidc")) == "oidc"
    if unsecured and (oidc or callback is not None):
        other = "oauth_cb" if callback is not None else "sasl.oauthbearer.method=oidc"
        raise wrong("enable.sasl.oauthbearer.unsecure.jwt", f"and {other} exclude each other; leave one out")
    if callback is not None:
        return TokenProvider(callback_tokens(callback, properties.text("sasl.oauthbearer.config")))
    if unsecured:
        return TokenProvider(unsecured_tokens(properties.text("sasl.oauthbearer.config")))
    if oidc:
        # The module oidc imports urllib, which takes longer than all other imports.
        from kafka_replica.broker.connection.security.oidc import oidc_tokens  # noqa: PLC0415

        return TokenProvider(oidc_tokens(properties))
    raise wrong(
        "sasl.mechanism",
        "is OAUTHBEARER, but no source of tokens is set: set oauth_cb, or sasl.oauthbearer.method=oidc, "
        "or (for experiments) enable.sasl.oauthbearer.unsecure.jwt",
    )
