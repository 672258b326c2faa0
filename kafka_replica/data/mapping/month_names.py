"""Names of months by language.

Source: the Unicode Common Locale Data Repository (CLDR), forms for dates and forms that stand alone, long and short,
of all regions of a language. The first name of a month is its long one, the second its short one.
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
    """The number of a month, as text, by each of its names in small letters, with a full stop or without."""
    found: dict[str, str] = {}
    for number, names in enumerate(_months(locale), start=1):
        for name in names:
            for form in (name, name.removesuffix(".")):
                # Small letters of capitals may be others: those of KASIM are kasim, not kasım.
                for small in (form.lower(), form.upper().lower()):
                    found.setdefault(small, str(number))
    return found


@cache
def written_months(locale: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of months as they are written: long, and short; nothing in a language that is not known."""
    months = _months(locale)
    return tuple(names[0] for names in months), tuple(names[1] for names in months)
