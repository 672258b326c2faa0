"""The objects of SDMX-JSON data messages, and their decoders: numbers keep their text.

Source: SDMX-JSON data message, field guides 1.0, 2.0 and 2.1 of the SDMX Technical Working Group, and their schemas.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias, TypeVar

from msgspec import UNSET, Raw, Struct, UnsetType, field

from kafka_replica.common.json_decoders import json_decoder

T = TypeVar("T")
Values: TypeAlias = list[Any] | None


class Component(Struct):
    """A dimension, measure or attribute, with the values that indexes refer to."""

    id: str
    values: Values = None
    default: Any = None
    position: int | None = field(default=None, name="keyPosition")
    relationship: Any = None
    max_occurs: Any = field(default=None, name="maxOccurs")


class Levels(Struct):
    """Components by the level at which the message presents them.

    Some services, such as those with the library SdmxSource, write ``dataset`` in place of ``dataSet``.
    """

    data_set: list[Component] | None = field(default=None, name="dataSet")
    data_set_in_lower_case: list[Component] | None = field(default=None, name="dataset")
    group: list[Component] | None = field(default=None, name="dimensionGroup")
    series: list[Component] | None = None
    observation: list[Component] | None = None


class Structure(Struct):
    """The meaning of the indexes of data sets."""

    dimensions: Levels
    measures: Levels | None = None
    attributes: Levels | None = None
    links: list[dict[str, Any]] | None = None
    data_sets: list[int] | None = field(default=None, name="dataSets")


class Series(Struct):
    """A series. An absent member is UNSET, so that members can be counted."""

    attributes: Values | UnsetType = UNSET
    annotations: Values | UnsetType = UNSET
    observations: dict[str, Values] | UnsetType | None = UNSET


class LeftOut(Struct):
    """An object that the outline of a message leaves out; the index of the object, None if it is empty."""

    number: int | None = None


class DataSet(Struct):
    """A data set in the outline of a message, flat or with series.

    Members that are not read are declared so that their keys can be counted.
    """

    action: str | UnsetType | None = UNSET
    structure: int | UnsetType | None = UNSET
    links: list[dict[str, Any]] | UnsetType | None = UNSET
    attributes: Values | UnsetType = UNSET
    groups: dict[str, Values] | UnsetType | None = field(default=UNSET, name="dimensionGroupAttributes")
    series: LeftOut | UnsetType | None = UNSET
    observations: LeftOut | UnsetType | None = UNSET
    annotations: Any = UNSET
    reporting_begin: Any = field(default=UNSET, name="reportingBegin")
    reporting_end: Any = field(default=UNSET, name="reportingEnd")
    valid_from: Any = field(default=UNSET, name="validFrom")
    valid_to: Any = field(default=UNSET, name="validTo")
    publication_year: Any = field(default=UNSET, name="publicationYear")
    publication_period: Any = field(default=UNSET, name="publicationPeriod")


class Body(Struct):
    """The data of a message: in 1.0 with one structure, in 2.x with several."""

    structure: Any = UNSET
    structures: list[Any] | UnsetType | None = UNSET
    data_sets: list[DataSet] | UnsetType | None = field(default=UNSET, name="dataSets")


class Message(Body):
    """A message. Its data is in ``data``, in drafts of 1.0 in the message itself."""

    data: Body | UnsetType | None = UNSET
    meta: Any = UNSET
    header: Any = UNSET
    errors: Any = UNSET
    schema: Any = field(default=UNSET, name="$schema")


MESSAGE: Final = json_decoder(Message, float_hook=str)
SERIES: Final = json_decoder(Series, float_hook=str)
MEMBERS: Final = json_decoder(dict[str, Raw])
OBSERVATIONS: Final = json_decoder(dict[str, Values], float_hook=str)


def value_if_given(value: T | UnsetType | None) -> T | None:
    """Return the value of a member; None if it is absent or null."""
    return None if value is UNSET else value
