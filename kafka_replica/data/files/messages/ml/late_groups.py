"""Find out, without parsing, whether a message has groups after series.

Attributes of a group apply to all its series, including those before it. A message with groups after series is
therefore parsed twice, first for its groups alone, which needs neither memory for the rows nor a temporary file. Most
messages have no groups, or have them first; a search for their elements shows this at a fraction of the cost of
parsing.
"""

from __future__ import annotations

import re
from typing import IO, Final

_CHUNK: Final = 1 << 20
_LONGEST_NAME: Final = 1 << 10
_NOT_GROUPS: Final = (
    rb"Series|Obs|Value|SeriesKey|ObsKey|ObsDimension|ObsValue|Attributes|Time|Comp|Text|StructuredText|Section|"
    rb"KeyFamilyRef|Annotations?|Annotation\w+|Footer|Message"
)
_PREFIX: Final = rb"(?:[^\s<>/:]+:)?"
_BEGIN: Final = re.compile(rb"<" + _PREFIX + rb"(?:Series|Obs)[\s/>]")
# A comment, a section of CDATA or an instruction after a series counts as a group, because it may contain "<DataSet".
_NEXT: Final = re.compile(rb"<(?!/|" + _PREFIX + rb"(?:" + _NOT_GROUPS + rb")[\s/>])" + _PREFIX + rb"(DataSet\b)?")
_BEFORE_ROOT: Final = rb"\A(?>(?:\xef\xbb\xbf|\s|<\?.*?\?>|<!--.*?-->)*)"
_CROSS_SECTIONAL: Final = re.compile(_BEFORE_ROOT + rb"<" + _PREFIX + rb"CrossSectionalData[\s/>]", re.DOTALL)
_WIDE: Final = (b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<")


def has_late_groups(file: IO[bytes]) -> bool:
    """Return whether a group may come after a series of its data set; False is certain, True is not."""
    rest, in_series, is_first = b"", False, True
    while chunk := file.read(_CHUNK):
        if is_first and chunk.startswith(_WIDE):
            return True  # two bytes per character
        if is_first and _CROSS_SECTIONAL.match(chunk):
            return False  # its groups contain their observations
        is_first = False
        data = rest + chunk
        end = data.rfind(b"<")
        end = len(data) if end < 0 or len(data) - end > _LONGEST_NAME else end
        position = 0
        while True:
            found = (_NEXT if in_series else _BEGIN).search(data, position, end)
            if found is None:
                break
            if in_series and found[1] is None:
                return True
            in_series, position = not in_series, found.end()
        rest = data[end:]
    return False
