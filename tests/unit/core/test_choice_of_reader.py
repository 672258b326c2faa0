"""The choice of the reader: by markers if possible, otherwise by quiescence."""

from __future__ import annotations

import pytest

from kafka_replica import BrokerError, ConfigurationError
from kafka_replica.broker.reading.readers import Boundaries, NotByMarkersError, choose_reader, make_reader
from kafka_replica.broker.wire.connection import TooOldError

AUTO, MARKERS, QUIESCENCE = Boundaries.AUTO, Boundaries.MARKERS, Boundaries.QUIESCENCE


class Log:
    """A log that cannot be opened by markers."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.tried: list[Boundaries] = []

    def open_by(self, boundaries: Boundaries) -> Boundaries:
        """Open the log, or fail by markers."""
        self.tried.append(boundaries)
        if boundaries is MARKERS and self.error is not None:
            raise self.error
        return boundaries


@pytest.mark.parametrize("error", [NotByMarkersError("x"), TooOldError("x")])
def test_quiescence_replaces_markers_that_are_not_available(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    """``AUTO`` continues by quiescence, with a warning, if properties or the broker do not allow markers."""
    log = Log(error)
    assert choose_reader(AUTO, log.open_by) is QUIESCENCE
    assert log.tried == [MARKERS, QUIESCENCE]
    [warning] = caplog.records
    assert (warning.levelname, warning.getMessage().rpartition(": ")[2]) == ("WARNING", "x")
    with pytest.raises(type(error)):
        choose_reader(MARKERS, log.open_by)


@pytest.mark.parametrize("error", [BrokerError("x"), ConfigurationError("x")])
def test_other_errors_end_the_choice(error: Exception) -> None:
    """An error that quiescence would meet as well is raised at once."""
    log = Log(error)
    with pytest.raises(type(error)):
        choose_reader(AUTO, log.open_by)
    assert log.tried == [MARKERS]


def test_the_first_reader_that_works_is_used() -> None:
    """Markers come first; the requested kind is the only one that is tried."""
    log = Log()
    assert choose_reader(AUTO, log.open_by) is MARKERS
    assert choose_reader(QUIESCENCE, log.open_by) is QUIESCENCE
    assert log.tried == [MARKERS, QUIESCENCE]


def test_properties_that_only_the_consumer_knows_are_no_error_of_the_properties() -> None:
    """A property without a counterpart is refused for markers, with an error that lets ``AUTO`` continue."""
    config = {"bootstrap.servers": "127.0.0.1:1", "security.protocol": "sasl_plaintext", "sasl.mechanisms": "OTHER"}
    with pytest.raises(NotByMarkersError):
        make_reader(config, ["t"], MARKERS)
