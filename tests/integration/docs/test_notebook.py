"""The notebook of the documentation runs as it is, and shows what is stored in it."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from kafka_replica.embedded import LocalKafka
from support.docs.notebook import NOTEBOOK, executed, shown


@pytest.mark.broker
@pytest.mark.long
@pytest.mark.spark
def test_the_notebook_shows_what_is_stored(local_kafka: LocalKafka, tmp_path: Path) -> None:
    """The notebook gives its stored results: ``PYTHONPATH=tests python -m support.docs.notebook`` renews them."""
    stored = nbformat.read(NOTEBOOK, as_version=4)
    made = executed(local_kafka, tmp_path)
    assert shown(made) == shown(stored)
    assert ["(25, 2)"] in shown(made)
