"""Parse the addresses in ``bootstrap.servers``, in all forms that librdkafka accepts."""

from __future__ import annotations

from kafka_replica.broker.connection.security.properties import wrong

_DEFAULT_PORT = 9092


def parse_servers(text: str, name: str, protocol: str) -> tuple[tuple[str, int], ...]:
    """Return hosts and ports in order, without duplicates; IPv6 addresses without brackets.

    Args:
        text: the addresses, such as ``"a:9093, SSL://b, [::1]:9094"``.
        name: the name of the property, for messages.
        protocol: the security protocol, which must match a scheme in an address.

    Raises:
        ConfigurationError: an address cannot be parsed.
    """
    if "@" in text:  # the message does not quote the address, which may hold a password
        raise wrong(name, "has an address with an @; set the user in sasl.username")
    found = [_server(entry.strip(), name, protocol) for entry in text.split(",") if entry.strip()]
    if not found:
        raise wrong(name, 'names no broker; set one, for example "localhost:9092"')
    return tuple(dict.fromkeys(found))


def _server(entry: str, name: str, protocol: str) -> tuple[str, int]:
    scheme, separator, address = entry.rpartition("://")
    if separator:
        if scheme.upper() != protocol:
            raise wrong(name, f"has {entry}, but security.protocol is {protocol}; make them agree")
        address = address.partition("/")[0]
    host, port = _split(address)
    if not (port.isascii() and port.isdigit() and 1 <= int(port) <= 65535):
        raise wrong(name, f"has {entry}, whose port is invalid; a port is a number from 1 to 65535")
    if "[" in host or "]" in host or any(character.isspace() for character in host):
        raise wrong(name, f"has {entry}, whose host is invalid; write an IPv6 address with a port as [::1]:9092")
    return host or "localhost", int(port)


def _split(address: str) -> tuple[str, str]:
    """Split into host and port. Several colons without brackets mean an IPv6 address without a port."""
    host, colon, port = address.rpartition(":")
    if not colon or (":" in host and not host.endswith("]")):
        host, port = address, str(_DEFAULT_PORT)
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    return host, port
