"""The listening socket of the server, its address, and TLS."""

from __future__ import annotations

import socket
import ssl
from typing import Final

from kafka_replica.errors import ConfigurationError
from kafka_replica.server.access.policy import LOOPBACK_NAMES
from kafka_replica.server.listening.open_files import ListeningSocket
from kafka_replica.server.settings import ListenSettings

_ALL_ADDRESSES: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104 - recognized, not used


def open_socket(listen: ListenSettings) -> socket.socket:
    """Return a socket that listens at the configured address.

    Raises:
        ConfigurationError: the address does not exist on this machine, is in use, or is not permitted.
    """
    try:
        family = socket.getaddrinfo(listen.host, listen.port, type=socket.SOCK_STREAM)[0][0]
        both = listen.host == "::" and socket.has_dualstack_ipv6()
        opened = socket.create_server((listen.host, listen.port), family=family, backlog=2048, dualstack_ipv6=both)
    except (OSError, UnicodeError) as error:
        # Python encodes the name before it is looked up, which fails if a part of it is empty or too long.
        reason = (error.strerror or error) if isinstance(error, OSError) else "this cannot be the name of a host"
        where = f"{listen.host} port {listen.port}"
        raise ConfigurationError(f"listening at {where}: {reason}; choose another port or host") from error
    # Connections inherit this option; asyncio sets it only for sockets with an explicit protocol. Without the option,
    # the body, which is sent in a separate packet, waits until the client acknowledges the headers: often for 40 ms.
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return ListeningSocket(opened.detach())


def address_of(opened: socket.socket, listen: ListenSettings) -> str:
    """Return the URL of the server; if the configured port is 0, with the port that was chosen."""
    scheme = "http" if listen.tls_certificate is None else "https"
    host = f"[{listen.host}]" if ":" in listen.host else listen.host
    return f"{scheme}://{host}:{opened.getsockname()[1]}"


def default_hosts(host: str) -> tuple[str, ...]:
    """Return the host names that requests may use by default: those of the loopback address and of this server."""
    own = socket.gethostname() if host in _ALL_ADDRESSES else f"[{host}]" if ":" in host else host
    return tuple(dict.fromkeys((*LOOPBACK_NAMES, own)))


def tls_context(listen: ListenSettings) -> ssl.SSLContext | None:
    """Return the TLS settings of the server; None without a certificate.

    Raises:
        ConfigurationError: a file cannot be read, the key does not match the certificate, or the password is wrong.
    """
    if listen.tls_certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)  # TLS 1.2 or newer
    try:
        # A function, because OpenSSL would prompt for a missing password on the terminal.
        context.load_cert_chain(listen.tls_certificate, listen.tls_key, lambda: listen.tls_key_password)
        if listen.tls_client_ca is not None:
            context.load_verify_locations(listen.tls_client_ca)
            context.verify_mode = ssl.CERT_REQUIRED
    except OSError as error:  # includes ssl.SSLError
        files = ", ".join(str(path) for path in (listen.tls_certificate, listen.tls_key, listen.tls_client_ca) if path)
        reason = getattr(error, "reason", None) or error.strerror or error
        raise ConfigurationError(
            f"TLS with {files}: {reason}; check that the files are PEM, the key fits the certificate, and the password"
        ) from error
    return context
