"""Links to pages and to the SDMX REST API, below the path of the app and, if wanted, a pinned version."""

from __future__ import annotations

from typing import Final, NamedTuple
from urllib.parse import quote, urlencode

from kafka_replica.sdmx import Format, Urn
from kafka_replica.server.access.sessions import Session
from kafka_replica.server.answers.versions import VersionId
from kafka_replica.server.rest.grammar import RESOURCES, Api
from kafka_replica.server.rest.negotiation import FORMAT_NAMES

_APIS: Final = {"v1": Api.V1, "v2": Api.V2}


class Address(NamedTuple):
    """A page: the segments of its path, and its parameters."""

    segments: tuple[str, ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()

    def with_parameters(self, **parameters: object) -> Address:
        """Return the page with other values of some parameters; an empty value removes the parameter."""
        found = dict(self.parameters) | {name: str(value) for name, value in parameters.items()}
        return self._replace(parameters=tuple((name, value) for name, value in found.items() if value))


class Links(NamedTuple):
    """Builds the links of a page.

    Args:
        root: the path at which the app is mounted, percent-encoded.
        base_paths: the base paths of the SDMX REST API.
        pinned: the version to which all links are pinned; None for links to the current version.
        session: the session of the signed-in person, for the link to sign out; None without a session.
    """

    root: str
    base_paths: tuple[str, ...]
    pinned: VersionId | None = None
    session: Session | None = None

    def pinned_to(self, version: VersionId | None) -> Links:
        """Return links that are pinned to a version; None for links to the current version."""
        return self._replace(pinned=version)

    def to(self, address: Address) -> str:
        """Return the path and parameters of a page."""
        query = f"?{urlencode(address.parameters)}" if address.parameters else ""
        return f"{self._base}/{'/'.join(quote(segment, safe='') for segment in address.segments)}{query}"

    def page(self, *segments: str, **parameters: object) -> str:
        """Return the path and parameters of the page with these segments and parameters."""
        return self.to(Address(segments).with_parameters(**parameters))

    def artefact(self, urn: Urn) -> str:
        """Return the path of an artefact's page."""
        return self.to(artefact_address(urn))

    def static(self, name: str) -> str:
        """Return the path of a static file."""
        return f"{self.root}/static/{quote(name)}"

    def sdmx(self, urn: Urn, **parameters: str) -> str | None:
        """Return the path of an artefact in the SDMX REST API; None if the API has no path for its class."""
        for api in (Api.V2, Api.V1):
            base = self._api_base(api)
            resource = next((row for row in RESOURCES.values() if api in row.apis and urn.cls in row.classes), None)
            if base is not None and resource is not None:
                kind = f"structure/{resource.name}" if api is Api.V2 else resource.name
                path = "/".join(quote(part, safe="") for part in (urn.agency, urn.id, urn.version))
                return f"{self._base}{base}/{kind}/{path}?{urlencode(parameters)}".removesuffix("?")
        return None

    @property
    def _base(self) -> str:
        return self.root if self.pinned is None else f"{self.root}/version/{quote(str(self.pinned))}"

    def _api_base(self, api: Api) -> str | None:
        """Return the base path for a version of the API: its own, or a common base path followed by the version."""
        common: str | None = None
        for path in self.base_paths:
            named = _APIS.get(path.rpartition("/")[2])
            if named is api:
                return path
            if named is None and common is None:
                common = f"{path}/{api}"
        return common


def artefact_address(urn: Urn) -> Address:
    """Return the page of an artefact."""
    return Address(("structures", urn.cls, urn.agency, urn.id, urn.version))


def format_names() -> dict[Format, str]:
    """Return the formats that can be written, with the first name of each for the parameter ``format``."""
    names: dict[Format, str] = {}
    for name, format_ in FORMAT_NAMES.items():
        names.setdefault(format_, name)
    return names
