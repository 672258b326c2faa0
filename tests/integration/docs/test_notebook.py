"""The notebook of the documentation runs as it is, and shows what is stored in it."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from kafka_replica.embedded import LocalKafka
from support.docs.notebook import NOTEBOOK, executed, shown
from support.spark.class_archive import short_job_options


@pytest.mark.broker
@pytest.mark.long
@pytest.mark.spark
def test_the_notebook_shows_what_is_stored(
    local_kafka: LocalKafka, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The notebook gives its stored results: ``PYTHONPATH=tests python -m support.docs.notebook`` renews them."""
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", short_job_options())
    stored = nbformat.read(NOTEBOOK, as_version=4)
    made = executed(local_kafka, tmp_path)
    assert shown(made) == shown(stored)
    assert ["(25, 2)"] in shown(made)
