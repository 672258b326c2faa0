"""Parsing of PostgreSQL's arrays in text form, such as ``{1,NULL,"a b"}`` and ``[0:1]={{1,2},{3,4}}``.

Source: PostgreSQL, section "Array Input and Output Syntax".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

_PART: Final = re.compile(r'\{|\}|,|"(?:[^"\\]|\\.)*"|[^{},"]+', re.DOTALL)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)


def parse_array(text: str, element: Callable[[str], Any]) -> list[Any]:
    """Return the elements of an array, with nested lists for several dimensions; lower bounds are ignored.

    Args:
        text: the array in text form.
        element: a function from the text of an element to its value; NULL becomes None.

    Raises:
        ValueError: the text is not an array.
    """
    whole: list[Any] = []
    open_lists = [whole]
    for part in _PART.findall(text[text.index("{") :]):
        if part == "{":
            inner: list[Any] = []
            open_lists[-1].append(inner)
            open_lists.append(inner)
        elif part == "}":
            open_lists.pop()
        elif part != ",":
            open_lists[-1].append(_value(part, element))
    if len(open_lists) != 1 or len(whole) != 1:
        raise ValueError("the text is not an array of PostgreSQL")
    elements: list[Any] = whole[0]
    return elements


def _value(part: str, element: Callable[[str], Any]) -> Any:
    if part.startswith('"'):
        return element(_ESCAPED.sub(r"\1", part[1:-1]))
    return None if part == "NULL" else element(part)
