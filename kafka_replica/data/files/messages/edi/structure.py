"""The components of a data set of SDMX-EDI, which are needed because its keys list values by position, not by name."""

from __future__ import annotations

from typing import Final, NamedTuple

from kafka_replica.data.files.messages.edi.periods import TIME_FORMATS
from kafka_replica.data.files.structure_references import belongs_to, urn_of
from kafka_replica.data.validation.model import Rules
from kafka_replica.sdmx import Urn
from kafka_replica.sdmx.model import DataStructure

_TIME_PERIOD: Final = "TIME_PERIOD"
_OBS_VALUE: Final = "OBS_VALUE"
_TIME_FORMAT: Final = "TIME_FORMAT"
_TEXT: Final = frozenset({"String", "Double", "Float"})


class Components(NamedTuple):
    """The components of a data set.

    Attributes:
        series: the dimensions except the time dimension, in the order of the structure.
        time: the time dimension.
        measure: the measure.
        missing: the value of a missing observation, as SDMX-ML writes it.
        time_format: the values of the attribute TIME_FORMAT by the code of the format; None without this attribute.
    """

    series: tuple[str, ...]
    time: str = _TIME_PERIOD
    measure: str = _OBS_VALUE
    missing: str = "NaN"
    time_format: dict[str, str] | None = None


def components_of_rules(rules: Rules, usages: frozenset[Urn], reference: str | None) -> Components | None:
    """Return the components of a data set; None if it names a structure that the rules do not apply to.

    Raises:
        DatasetError: the reference is invalid.
    """
    if reference is not None and not belongs_to(urn_of("datastructure", reference), rules, usages):
        return None
    measures = [column for column in rules.columns if column.kind == "measure"]
    measure = next(
        (each for each in measures if each.id == _OBS_VALUE),
        measures[0] if len(measures) == 1 else None,
    )
    formats = rules.column(_TIME_FORMAT)
    return Components(
        rules.series,
        next((column.id for column in rules.columns if column.is_time), _TIME_PERIOD),
        _OBS_VALUE if measure is None else measure.id,
        "NaN" if measure is None or measure.text_type in _TEXT else "#N/A",
        None if formats is None or formats.kind != "attribute" else _time_formats(formats.values),
    )


def components_of_structure(structure: DataStructure) -> Components:
    """Return the components of a data set whose structure is in the same interchange."""
    time = structure.time_dimension
    return Components(
        tuple(dimension.id for dimension in structure.dimensions.values()),
        _TIME_PERIOD if time is None else time.id,
        time_format=_time_formats(frozenset()) if _TIME_FORMAT in structure.attributes else None,
    )


def _time_formats(codes: frozenset[str]) -> dict[str, str]:
    """Return the values of TIME_FORMAT: SDMX-EDI's own codes where the attribute's codes include them, else durations.

    Args:
        codes: the codes of the attribute.
    """
    return {code: code if code in codes else format_.duration for code, format_ in TIME_FORMATS.items()}
