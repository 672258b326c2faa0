"""Pages of 50,000 codes in a real browser, against static pages with the same bytes in the same run."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median

import pytest

from kafka_replica.testing import FakeTopic
from support import plain_http
from support.effort import usual_or_long
from support.server.browser import Browser, browsing, chromium
from support.server.html_tools import BROWSER
from support.server.page_rules import check_rules
from support.server.page_topic import MANY, codelist_of_many, publish
from support.server.server_tools import running

PATH = "/structures/Codelist/MANY/CL_LARGE/1.0"
_TIMES = """
const [found] = performance.getEntriesByType('navigation');
return [found.responseEnd - found.requestStart, found.loadEventEnd - found.requestStart];
"""
_IDS = "return [...document.querySelectorAll('#items ~ .scroll tbody th')].map(one => one.textContent)"
_MOST = 3.0
"""The limit of the ratio for the display: layout takes the same time for both."""


@contextmanager
def static_pages(files: dict[str, tuple[str, bytes]]) -> Iterator[str]:
    """Serve files by path and query, each with its media type; yield the address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            media_type, body = files.get(self.path, ("text/plain", b""))
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def times_ms(browser: Browser, address: str) -> list[float]:
    """Return the milliseconds from the request of a page to the end of its answer, and to its display."""
    browser.open(address)
    found: list[float] = browser.run(_TIMES)
    return found


@pytest.mark.long
@pytest.mark.scaled
@pytest.mark.thorough
def test_pages_of_50_000_codes_are_shown_almost_as_fast_as_static_pages(tmp_path: Path) -> None:
    """The browser opens both in turn; the pages have the codes in order; following the links shows the next ones."""
    chromium()
    topic = FakeTopic()
    publish(topic, [codelist_of_many()])
    starts = range(0, MANY, MANY // usual_or_long(10, 40, 100))
    with topic.replica() as replica:
        replica.wait_ready(60)
        with running(replica, answer=None) as (address, _), browsing(tmp_path) as browser:
            files = {"/static/pages.css": ("text/css", plain_http.get(f"{address}/static/pages.css").content)}
            for start in starts:
                page = f"{PATH}?start={start}"
                files[page] = "text/html; charset=utf-8", plain_http.get(address + page, headers=BROWSER).content
            with static_pages(files) as other:
                own, static = [], []
                for start in starts:
                    page = f"{PATH}?start={start}"
                    own.append(times_ms(browser, address + page))
                    assert browser.run(_IDS) == [f"C{number}" for number in range(start, start + 100)]
                    static.append(times_ms(browser, other + page))
                    assert browser.run("return document.querySelectorAll('tbody th').length") >= 100
            browser.open(address + PATH)
            check_rules(browser, PATH)
            browser.follow("a[rel=next]")
            assert browser.run(_IDS)[0] == "C100"
    ratios = []
    for number, what in enumerate(("answer", "display")):
        taken, least = (median(one[number] for one in each) for each in (own, static))
        ratios.append(taken / least)
        print(f"a page of {MANY} codes, {what}: {taken:.0f} ms, a static one {least:.0f} ms, ratio {ratios[-1]:.2f}")
    assert ratios[1] < _MOST
