"""An SDMX REST service as a source, on a real HTTP server: few requests, and only complete answers count."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_replica.errors import ConfigurationError
from kafka_replica.producer import Put, StructureProducer
from kafka_replica.producer.errors import SourceError
from kafka_replica.producer.sources import ServiceSettings, ServiceSource, record_source
from kafka_replica.producer.sources.queries import accept_of, path_of
from support.producer.producer_tools import settings_of
from support.producer.sdmx_service import Response, SdmxService
from support.producer.structure_samples import codelist, urn

ALL = "structure/*/*/*/*?references=none&detail=full"


@pytest.fixture
def producer(tmp_path: Path) -> Iterator[StructureProducer]:
    """A producer that is not started and only records."""
    made = StructureProducer(settings_of("nowhere:1", "t", f"sqlite:///{tmp_path / 'outbox.db'}"))
    yield made
    made.close()


def source_of(service: SdmxService, **more: Any) -> ServiceSource:
    """Return a source with short waits."""
    return ServiceSource(ServiceSettings(service.url, **{"retries": 1, "timeout_s": 20.0, **more}))


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["etags", "dates", "neither"])
def test_unchanged_content_is_not_sent_again(kind: str, producer: StructureProducer) -> None:
    """Unchanged content is not sent again, by ETag, date or content, whatever the header of each answer."""
    with SdmxService(etags=kind == "etags", dates=kind == "dates") as service:
        service.answers[ALL] = Response(codelist("CL_A CL_B"))
        source = source_of(service)
        assert record_source(source, producer) == [1]
        assert source.read() is None
        requests = service.requests[-1].headers
        assert ("if-none-match" in requests, "if-modified-since" in requests) == (kind == "etags", kind == "dates")
        service.answers[ALL] = Response(codelist("CL_A CL_B", prepared="2027-02-02T00:00:00.123Z"))
        assert record_source(source, producer) == []
        service.answers[ALL] = Response(codelist("CL_A CL_C"))
        assert record_source(source, producer) == [2, 3]
        assert record_source(source_of(service), producer) == [], "another process knows it from the database"
        source.forget()
        assert source.read() is not None, "another instance may have recorded since"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (Response("busy", 503), "503"),
        (Response("broken", 500, "text/plain"), "500 .*broken"),
        (Response("<no/>", 404), "404 .*allow_empty"),
        (Response("who are you?", 401), "401 .*check user"),
        (Response("", 406), "406 .*set accept"),
        (Response("", 204), "204"),
        (Response(codelist("CL_A"), 206), "206"),
        (Response(codelist("CL_A"), truncated_by=20), "incomplete|closed"),
        (Response(codelist("CL_A")[:-30]), "reading .*CL_B|reading .*structure"),
        (Response("<html>Welcome</html>", content_type="text/html"), "text/html"),
        (Response('{"errors": [{"code": 500}]}', content_type="application/json"), "error"),
        (Response(codelist("CL_A", footer='<mes:Footer><mes:Message code="510" severity="Error"><mes:Text>limit'
                       "</mes:Text></mes:Message></mes:Footer>")), "footer.*510.*limit"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("which", ["first", "second"])
def test_partial_failure_is_never_a_deletion(
    answer: Response, says: str, which: str, producer: StructureProducer
) -> None:
    """If one of two queries fails in any way, nothing of either is recorded; later everything is."""
    first, second = (f"codelist/{agency}/all/all?references=none&detail=full" for agency in "AB")
    with SdmxService() as service:
        service.answers = {first: Response(codelist("CL_A")), second: Response(codelist("CL_B"))}
        source = source_of(service, api="1", structures=("codelist/A", "codelist/B"), retries=0)
        assert record_source(source, producer) == [1]
        bad, good = (first, second) if which == "first" else (second, first)
        service.answers = {bad: answer, good: Response(codelist("CL_C"))}
        for _ in range(2):
            with pytest.raises(SourceError, match=f"(?s){says}"):
                record_source(source, producer)
        assert producer.status().recorded == 1
        service.answers = {bad: Response(codelist("CL_D")), good: Response(codelist("CL_C"))}
        assert record_source(source, producer) == [2, 3]


@pytest.mark.thorough
def test_a_harmless_footer_is_no_failure(producer: StructureProducer) -> None:
    """A footer with information only is not a failure."""
    footer = (
        '<mes:Footer><mes:Message code="0" severity="Information"><mes:Text>x</mes:Text></mes:Message></mes:Footer>'
    )
    with SdmxService() as service:
        service.answers[ALL] = Response(codelist("CL_A", footer=footer))
        assert record_source(source_of(service), producer) == [1]


@pytest.mark.thorough
def test_an_empty_answer_deletes_only_if_allowed(producer: StructureProducer) -> None:
    """A 404, SDMX's answer without results, deletes only if the settings allow that."""
    with SdmxService() as service:
        service.answers[ALL] = Response(codelist("CL_A"))
        source = source_of(service, allow_empty=True)
        assert record_source(source, producer) == [1]
        service.answers[ALL] = Response("<no/>", 404)
        assert record_source(source, producer) == [2]


@pytest.mark.thorough
def test_a_temporary_failure_is_retried_within_one_round() -> None:
    """A temporary failure is retried within one query round."""
    with SdmxService() as service:
        answers = iter(
            [
                Response("", 503),
                Response(codelist("CL_A"), truncated_by=5),
                Response(codelist("CL_A")),
            ]
        )
        service.answers["*"] = lambda: next(answers)
        found = source_of(service, retries=2).read()
        assert found is not None
        assert [put.key for put in found] == [urn("CL_A")]
        assert len(service.requests) == 3


@pytest.mark.thorough
def test_the_published_format_is_requested_first() -> None:
    """The published format is requested first; the answer states its actual format."""
    with SdmxService() as service:
        service.answers["*"] = Response(codelist("CL_A", edition="2.1"), content_type="application/xml")
        source = ServiceSource(ServiceSettings(service.url), "application/vnd.fusion.json")
        found = source.read()
        assert found is not None
        assert isinstance(found[0], Put)
        assert found[0].content_type == "application/vnd.sdmx.structure+xml;version=2.1"
        accepted = service.requests[-1].headers["accept"].split(", ")
        assert accepted[0] == "application/vnd.fusion.json"
        assert accepted[1] == "application/vnd.sdmx.structure+xml;version=3.0.0;q=0.95"
        source_of(service, accept="text/xml").read()
        assert service.requests[-1].headers["accept"] == "text/xml"


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["settings", "url", "token"])
def test_requests_authenticate_and_errors_hide_credentials(how: str) -> None:
    """Requests authenticate by name and password or by token; errors contain neither."""
    with SdmxService() as service:
        service.answers["*"] = Response("no", 403)
        settings = {
            "settings": ServiceSettings(service.url, user="me", password="hunter2"),
            "url": ServiceSettings(service.url.replace("//", "//me:hunter2@")),
            "token": ServiceSettings(service.url, token="hunter2"),
        }[how]
        with pytest.raises(SourceError, match="403") as caught:
            ServiceSource(settings).read()
        assert "hunter2" not in str(caught.value)
        sent = service.requests[-1].headers["authorization"]
        assert sent == ("Bearer hunter2" if how == "token" else "Basic bWU6aHVudGVyMg==")
        if how != "url":
            assert "hunter2" not in repr(settings)


@pytest.mark.thorough
def test_a_service_that_is_not_there() -> None:
    """The error for an unreachable service names its address."""
    with SdmxService() as service:
        url = service.url
    with pytest.raises(SourceError, match=f"{url}.*nothing is recorded until it answers"):
        ServiceSource(ServiceSettings(url, retries=0, timeout_s=5)).read()


@pytest.mark.parametrize("host", ["a..example.org", "a" * 64])
def test_a_name_that_no_host_can_have(host: str) -> None:
    """Python does not even look the name up; the error is like that for a host that does not exist."""
    with pytest.raises(SourceError, match=f"reading http://{host}/.*nothing is recorded until it answers"):
        ServiceSource(ServiceSettings(f"http://{host}/", retries=0, timeout_s=5)).read()


@pytest.mark.parametrize(
    ("query", "second", "first"),
    [
        ("*", "structure/*/*/*/*", "structure/all/all/all"),
        ("codelist", "structure/codelist/*/*/*", "codelist/all/all/all"),
        ("codelist/ECB,SDMX/CL_FREQ/~", "structure/codelist/ECB,SDMX/CL_FREQ/~", "codelist/ECB+SDMX/CL_FREQ/latest"),
        ("dataflow/ECB/*/1.0/", "structure/dataflow/ECB/*/1.0", "dataflow/ECB/all/1.0"),
    ],
)
def test_paths_are_built_for_both_versions_of_the_interface(query: str, second: str, first: str) -> None:
    """A query has the path that each version of SDMX REST defines for it."""
    assert path_of(query, "2") == f"{second}?references=none&detail=full"
    assert path_of(query, "1") == f"{first}?references=none&detail=full"


@pytest.mark.parametrize("query", ["", "a//b", "a/b/c/d/e", "a?x=1", "a b"])
def test_an_invalid_query_is_refused_with_an_example(query: str) -> None:
    """The error for an invalid query shows an example."""
    with pytest.raises(ConfigurationError, match="codelist/ECB"):
        path_of(query, "2")


def test_settings_that_are_impossible() -> None:
    """Impossible settings are refused with the name of the setting, before any request."""
    assert accept_of("application/xml", "1").startswith("application/xml, ")
    for url in ("ftp://x", "nowhere", "http://"):
        with pytest.raises(ConfigurationError, match="url"):
            ServiceSource(ServiceSettings(url))
    with pytest.raises(ConfigurationError, match="api="):
        ServiceSource(ServiceSettings("http://x", api="3"))  # type: ignore[arg-type]
