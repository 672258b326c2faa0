"""Make the picture of the dashboard in Grafana: ``make pictures``, if ``KAFKA_REPLICA_GRAFANA`` names a Grafana.

PYTHONPATH=tests .venv/bin/python -m support.dashboard_picture [FOLDER]
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from kafka_replica.embedded import kafka_for
from support.grafana import SIZE, VARIABLE, grafana, open_dashboard
from support.monitored import CONFIG, monitored
from support.paths import ROOT
from support.server.browser import browsing

_CHANGES: Final = 500
_EVERY_S: Final = 0.5
_TOPIC: Final = "sdmx.structures"


def main(folder: Path) -> None:
    """Use a service and a producer for some minutes; write the picture to a folder."""
    if not os.environ.get(VARIABLE):
        print(f"dashboard.png is not made: {VARIABLE} names no folder of a Grafana")
        return
    with tempfile.TemporaryDirectory() as temporary, kafka_for() as kafka:
        place = Path(temporary)
        (place / "grafana").mkdir()
        kafka.create_topic(_TOPIC, config=CONFIG)
        with (
            monitored(kafka.bootstrap_servers, _TOPIC, place) as found,
            grafana(place / "grafana", str(found.prometheus.base_url)) as address,
            browsing(place) as browser,
        ):
            for number in range(_CHANGES):
                found.use(number)
                time.sleep(_EVERY_S)
            open_dashboard(browser, address)
            for number in range(40):  # until it is drawn
                found.use(number)
                time.sleep(_EVERY_S)
            picture = browser.picture(*SIZE, 0.65)
    (folder / "dashboard.png").write_bytes(picture)
    print("dashboard.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/images")
