"""A codelist of 50,000 codes is browsed quickly, measured as processor time: other processes have no influence."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest

from kafka_replica.sdmx import Format, read_message, write_message
from kafka_replica.sdmx.lookups.cache import decode_cache
from kafka_replica.server import create_app
from kafka_replica.testing import FakeTopic
from support.effort import usual_or_long
from support.server.app_tools import client_of
from support.server.html_tools import BROWSER
from support.server.page_topic import MANY, codelist_of_many, publish

pytestmark = pytest.mark.long

LIMIT_S = 0.2
ROWS = re.compile(r">(C[0-9]+)</th>")
FORMAT = Format.SDMX_JSON_2_0


def processor_time_s(action: Callable[[], object]) -> float:
    """Return the processor time of this process during an action."""
    began_s = time.process_time()
    action()
    return time.process_time() - began_s


@pytest.mark.scaled
def test_a_page_of_50_000_codes_takes_less_than_200_ms() -> None:
    """Each page has its codes in the order of the tree; the first page also decodes the list."""
    topic, path = FakeTopic(), "/structures/Codelist/MANY/CL_LARGE/1.0"
    codelist = codelist_of_many()
    publish(topic, [codelist], FORMAT)
    message = write_message(codelist, FORMAT)
    decoding_s = min(processor_time_s(lambda: read_message(message)) for _ in range(3))
    with topic.replica() as replica:
        replica.wait_ready(60)
        client = client_of(create_app(replica))
        client.get("/", headers=BROWSER)  # reads the templates

        def page(parameters: str, codes: list[str]) -> float:
            """Return the processor time of a page, of three attempts the best if the first takes long."""
            for _attempt in range(3):
                answers = []
                took_s = processor_time_s(lambda: answers.append(client.get(path + parameters, headers=BROWSER)))  # noqa: B023
                assert ROWS.findall(answers[0].text) == codes
                if took_s < LIMIT_S:
                    break
            return took_s

        cold_s = []
        for _ in range(3):
            decode_cache.clear()
            answers = []
            cold_s.append(processor_time_s(lambda: answers.append(client.get(path, headers=BROWSER))))  # noqa: B023
            assert len(ROWS.findall(answers[0].text)) == 100
        starts = usual_or_long([0, 100, 12_300, 25_000, 37_700, 49_900], [*range(0, MANY, 500)], [*range(0, MANY, 100)])
        times_s = [page(f"?start={start}", [f"C{number}" for number in range(start, start + 100)]) for start in starts]
        found_s = [
            page("?q=c4999", ["C4999", *(f"C4999{number}" for number in range(10))]),
            page("?q=code+49999", ["C49999"]),
        ]
    print(
        f"decoding {1000 * decoding_s:.0f} ms; first page {1000 * min(cold_s):.0f} ms; pages: middle "
        f"{1000 * sorted(times_s)[len(times_s) // 2]:.0f} ms, slowest {1000 * max(times_s):.0f} ms; "
        f"with words {[round(1000 * one) for one in found_s]} ms (processor time)"
    )
    assert max(times_s) < LIMIT_S
    assert max(found_s) < LIMIT_S
    # A slow machine decodes slowly, too; the rest of the first page takes one to three times as long.
    assert min(cold_s) - decoding_s < max(LIMIT_S, 8 * decoding_s)
