"""The rules of each format for the fields of an artefact: times, addresses, references, and omitted fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from kafka_replica.sdmx.containers import InternationalString
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.shared.writing import references, representations
from kafka_replica.sdmx.formats.shared.writing.rewriting import Change, FieldChanges, of_value
from kafka_replica.sdmx.formats.shared.writing.times import (
    as_day,
    as_instant,
    as_instant_with_zone,
    as_milliseconds,
    instants,
    observational,
    with_zone,
)
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.model.base import Identifiable
from kafka_replica.sdmx.model.earlier_editions import ContactOfKind
from kafka_replica.sdmx.model.organisations import Contact

_NO_ADDRESS: Final = ("Code.uri", "Dimension.uri", "Attribute.uri", "Measure.uri", "Group.uri")
_COMPONENTS_IN_MAPS: Final = ("source_class", "target_class", "source_list", "target_list")
_LEFT_OUT: Final = {
    Format.SDMX_ML_2_1: ("links",),
    Format.SDMX_ML_2_0: ("links", "Code.descriptions", *_NO_ADDRESS, *_COMPONENTS_IN_MAPS),
    Format.SDMX_ML_1_0: ("links", "descriptions", *_NO_ADDRESS),
    Format.SDMX_ML_3_0: ("Link.uri", "Link.hreflang", "Link.titles", "ReportedAttribute.is_literal"),
    Format.SDMX_ML_3_1: ("Link.uri", "Link.hreflang", "Link.titles", "ReportedAttribute.is_literal"),
    Format.EDI: ("links", "descriptions", "annotations", "uri", "is_final"),
    Format.XLSX: ("links",),
    Format.FUSION_JSON: ("Link.uri", "Link.hreflang", "Link.titles"),
}
"""Fields that are left out if the format cannot represent them: the meaning of a structure does not depend on them."""

_VALID: Final = ("Maintainable.valid_from", "Maintainable.valid_to", "HierarchicalCode.valid_from",
                 "HierarchicalCode.valid_to")  # fmt: skip
_VALID_ROWS: Final = ("RepresentationMapping.valid_from", "RepresentationMapping.valid_to", "ItemMap.valid_from",
                      "ItemMap.valid_to")  # fmt: skip
_PERIODS: Final = (
    "TextFormat.start_time", "TextFormat.end_time", "SelectedValue.valid_from", "SelectedValue.valid_to",
    "TimeRange.valid_from", "TimeRange.valid_to", "MemberSelection.valid_from", "MemberSelection.valid_to",
    "Region.valid_from", "Region.valid_to", "MetadataSet.reporting_begin_date", "MetadataSet.reporting_end_date",
)  # fmt: skip
_JSON: Final = (Format.SDMX_JSON_1_0, Format.SDMX_JSON_2_0, Format.SDMX_JSON_2_1)
_OLD_ML: Final = (Format.SDMX_ML_2_0, Format.SDMX_ML_1_0)
_ML_3: Final = (Format.SDMX_ML_3_0, Format.SDMX_ML_3_1)

# RFC 3986. Many files have relative addresses, and by default a JSON validator treats the format "uri" as a comment.
_is_address = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]*", re.ASCII).fullmatch
_is_email = re.compile(r"[^@\s]+@[^@\s]+").fullmatch


def _each(fields: Iterable[str], change: Change) -> dict[str, Change]:
    return dict.fromkeys(fields, change)


def _times_of(format_: Format) -> dict[str, Change]:
    if format_ in _JSON:
        found = _each((*_VALID, *_VALID_ROWS), of_value(as_instant_with_zone))
        found |= {"Constraint.reference_period": of_value(instants)}
        return found | _each(_PERIODS, of_value(with_zone))
    if format_ in _ML_3:
        found = _each(_VALID, of_value(as_instant)) | _each(_VALID_ROWS, of_value(as_day))
        return found | {"MetadataSet.publication_period": of_value(observational)}
    if format_ is Format.SDMX_ML_2_1:
        return _each(_VALID, of_value(as_instant)) | {"Constraint.reference_period": of_value(instants)}
    return _each(_VALID, of_value(as_milliseconds)) if format_ is Format.FUSION_JSON else {}


def _addresses_of(format_: Format) -> dict[str, Change]:
    """Return the checks of addresses: SDMX-JSON allows absolute and relative URIs.

    The uri of an artefact or item, which all formats may leave out, is dropped if it is not a URI; other invalid
    addresses are refused.
    """
    if format_ not in _JSON:
        return {}
    address = of_value(_address)
    without_urn = references.WITHOUT_URN.get(format_, ())

    def own(found: str | None, owner: Identifiable) -> str | None:
        if found is None:
            return None
        # The uri is part of the object's link to itself, which must have a URN or another address.
        has_link = owner.urn.cls not in without_urn or getattr(owner, "structure_url", None)
        return found if _is_address(found) and has_link else None

    return {
        "Identifiable.uri": own, "MetadataAttributeUsage.uri": of_value(_own_address), "Contact.uris": address,
        "Contact.emails": of_value(_emails), "Link.uri": address, "Link.url": address,
        "Maintainable.structure_url": address, "Annotation.urls": of_value(_urls),
        "Link.hreflang": of_value(_language),
    }  # fmt: skip


_FIXED_TAGS: Final = {tag.lower(): tag for tag in ("en-GB-oed", "sgn-BE-FR", "sgn-BE-NL", "sgn-CH-DE")}
"""The tags with capital letters that the pattern of the schemas lists; all others it only accepts in lower case."""


def _language(tag: str | None) -> str | None:
    """Return a language tag in the case that the pattern of the schemas demands; case has no meaning."""
    return None if tag is None else _FIXED_TAGS.get(tag.lower(), tag.lower())


def _urls(found: InternationalString) -> InternationalString:
    """Return addresses by language, with the languages in the case that the schemas demand."""
    _address(found)
    lower = [(_FIXED_TAGS.get(language.lower(), language.lower()), text) for language, text in found.texts]
    return found if lower == list(found.texts) else InternationalString(lower)


def _address(found: Any) -> Any:
    return _fitting(found, _is_address, "URIs")


def _own_address(found: str | None) -> str | None:
    return found if found is not None and _is_address(found) else None


def _emails(found: Any) -> Any:
    return _fitting(found, _is_email, "addresses of mail")


def _fitting(found: Any, fits: Any, kind: str) -> Any:
    texts = [text for _, text in found.texts] if isinstance(found, InternationalString) else found
    for text in (texts,) if isinstance(texts, str) else texts or ():
        if not fits(text):
            raise UnwritableError(f"the format needs {kind}, but {text[:80]!r} is not")
    return found


def _without_kinds(found: tuple[Contact, ...]) -> tuple[Contact, ...]:
    """Return contacts without the kinds that only formats before 2.1 can represent next to another role."""
    if not any(isinstance(one, ContactOfKind) for one in found):
        return found
    fields = Contact.__struct_fields__
    return tuple([Contact(**{name: getattr(one, name) for name in fields}) for one in found])


def _contacts_of(format_: Format) -> dict[str, Change]:
    return {} if format_ in _OLD_ML else {"Organisation.contacts": of_value(_without_kinds)}


def _levels_of(format_: Format) -> dict[str, Change]:
    """Return the change of the level that a hierarchical code names: in 2.0 levels do not contain each other."""
    return {"HierarchicalCode.level": of_value(_last_id)} if format_ is Format.SDMX_ML_2_0 else {}


def _last_id(path: str | None) -> str | None:
    return None if path is None else path.rpartition(".")[2]


_RESOLVED: Final = {name.lower(): name for name in ("startOfPeriod", "endOfPeriod", "midPeriod")}
_EPOCHS: Final = {name: name for name in ("nanosecond", "microsecond", "millisecond", "second", "day")}


def _dates_of(format_: Format) -> dict[str, Change]:
    """Return the checks of date maps: some registries write these names in capital letters, as MID_PERIOD."""
    if format_ not in references.SINCE_3:
        return {}
    return {"DateMap.resolve_period": _one_of(_RESOLVED), "EpochMap.epoch_period": _one_of(_EPOCHS)}


def _one_of(known: Mapping[str, str]) -> Change:
    def named(found: str | None) -> str | None:
        if found is None:
            return None
        name = known.get(found.replace("_", "").lower())
        if name is None:
            raise UnwritableError(f"the format has {', '.join(known.values())} instead of {found[:40]!r}")
        return name

    return of_value(named)


def _rules_of(format_: Format) -> FieldChanges:
    changes = (
        _times_of(format_), _addresses_of(format_), references.changes_of(format_), representations.changes_of(format_),
        _contacts_of(format_), _levels_of(format_), _dates_of(format_),
    )  # fmt: skip
    return FieldChanges(changes, _LEFT_OUT.get(format_, ()))


RULES: Final = {format_: _rules_of(format_) for format_ in Format}
"""The rules of each format."""
