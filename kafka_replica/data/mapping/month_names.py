"""Names of months by language.

Source: the Unicode Common Locale Data Repository (CLDR), format and stand-alone forms, long and short, of all regions
of a language. The first name of a month is the long one, the second the short one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

_OLD: Final = {"iw": "he", "in": "id", "no": "nb", "nn": "nb", "sh": "sr"}


@cache
def _languages() -> Mapping[str, tuple[tuple[str, ...], ...]]:
    text = files("kafka_replica.data.mapping").joinpath("month_names.txt").read_text("utf-8")
    parted = (line.split(" ", 1) for line in text.splitlines())
    return {language: tuple(tuple(month.split(",")) for month in names.split("|")) for language, names in parted}


def _months(locale: str | None) -> tuple[tuple[str, ...], ...]:
    language = (locale or "en").replace("_", "-").split("-")[0].lower()
    return _languages().get(_OLD.get(language, language), ())


@cache
def month_numbers(locale: str | None) -> Mapping[str, str]:
    """Return the number of each month, as text, by all of its names in lower case, with and without a full stop."""
    found: dict[str, str] = {}
    for number, names in enumerate(_months(locale), start=1):
        for name in names:
            for form in (name, name.removesuffix(".")):
                # Lower case of upper case may differ from the name: KASIM becomes kasim, not kasım.
                for small in (form.lower(), form.upper().lower()):
                    found.setdefault(small, str(number))
    return found


@cache
def written_months(locale: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of months as they are written: long, and short; empty for an unknown language."""
    months = _months(locale)
    return tuple(names[0] for names in months), tuple(names[1] for names in months)
