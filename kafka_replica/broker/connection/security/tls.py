"""Translate librdkafka's ``ssl.*`` properties to an SSL context."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kafka_replica.broker.connection.security.properties import Properties, refused, wrong
from kafka_replica.broker.connection.security.tls_keys import load_client_certificate

_IMPOSSIBLE = {
    "ssl.ca.certificate.stores": "it names certificate stores of Windows",
    "ssl.curves.list": "Python's ssl cannot choose curves",
    "ssl.engine.id": "Python's ssl has no OpenSSL engines",
    "ssl.engine.location": "Python's ssl has no OpenSSL engines",
    "ssl.providers": "Python's ssl cannot load OpenSSL providers",
    "ssl.sigalgs.list": "Python's ssl cannot choose signature algorithms",
}
# Properties of other clients, which librdkafka does not accept from Python either.
_INSTEAD = {
    "ssl_ca": "ssl.ca.pem",
    "ssl_certificate": "ssl.certificate.pem",
    "ssl_key": "ssl.key.pem",
}
_KNOWN = frozenset({
    "ssl.ca.location", "ssl.ca.pem", "ssl.certificate.location", "ssl.certificate.pem", "ssl.cipher.suites",
    "ssl.crl.location", "ssl.endpoint.identification.algorithm", "ssl.key.location", "ssl.key.password", "ssl.key.pem",
    "ssl.keystore.location", "ssl.keystore.password",
})  # fmt: skip

# Paths at which systems keep their trusted authorities; the first existing path is used.
_BUNDLES = (
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/ssl/certs",
    "/usr/local/share/certs/ca-root-nss.crt",
)
PROBE = "probe"


def tls_context(properties: Properties) -> ssl.SSLContext:
    """Return the SSL context for the properties.

    Raises:
        ConfigurationError: a property cannot be honoured, or a file cannot be used.
    """
    for name in properties.names("ssl"):
        if name in _INSTEAD:
            raise wrong(name, f"is not for this client; set {_INSTEAD[name]}")
        if name not in _KNOWN:
            raise refused(name, _IMPOSSIBLE.get(name, "it is not supported"))
    # Not ssl.create_default_context: since Python 3.13 it rejects authorities that librdkafka accepts.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ciphers = properties.text("ssl.cipher.suites")
    if ciphers:
        with _using("ssl.cipher.suites", "allows no cipher that OpenSSL knows"):
            context.set_ciphers(ciphers)
    trust(context, properties, "ssl.ca.location", "ssl.ca.pem")
    _check_revoked(context, properties)
    load_client_certificate(context, properties)
    names_checked = properties.choice("ssl.endpoint.identification.algorithm", "https", ("https", "none")) == "https"
    verified = properties.flag("enable.ssl.certificate.verification", default=True)
    context.check_hostname = names_checked and verified
    context.verify_mode = ssl.CERT_REQUIRED if verified else ssl.CERT_NONE
    return context


def trust(context: ssl.SSLContext, properties: Properties, location_name: str, pem_name: str) -> None:
    """Trust the authorities that two properties name or, if both are missing, those that the system trusts.

    Raises:
        ConfigurationError: a file, a folder or a PEM cannot be used.
    """
    location, pem = properties.text(location_name), properties.text(pem_name)
    if location and location != PROBE:
        with _using(location_name, f"cannot be used: {location}"):
            if Path(location).is_dir():
                context.load_verify_locations(capath=location)
            else:
                context.load_verify_locations(cafile=location)
    if pem:
        with _using(pem_name, "holds no certificate in PEM"):
            context.load_verify_locations(cadata=pem)
    if not pem and location in {None, PROBE}:
        _trust_as_the_system(context, probe=location == PROBE)


def _trust_as_the_system(context: ssl.SSLContext, *, probe: bool) -> None:
    if not probe:
        context.load_default_certs()
        folder = ssl.get_default_verify_paths().capath
        if context.cert_store_stats()["x509"] or (folder and any(Path(folder).glob("*.0"))):
            return
    for bundle in map(Path, _BUNDLES):
        if bundle.is_dir() and any(bundle.iterdir()):
            context.load_verify_locations(capath=bundle)
            return
        if bundle.is_file():
            context.load_verify_locations(cafile=bundle)
            return
    context.set_default_verify_paths()


def _check_revoked(context: ssl.SSLContext, properties: Properties) -> None:
    location = properties.text("ssl.crl.location")
    if location:
        with _using("ssl.crl.location", f"cannot be used: {location}"):
            context.load_verify_locations(cafile=location)
        context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF


@contextmanager
def _using(name: str, what: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, TypeError) as error:  # ssl.SSLError is an OSError
        reason = getattr(error, "strerror", None)
        raise wrong(name, f"{what} ({reason.partition(' (_ssl.c')[0]})" if reason else what) from error
