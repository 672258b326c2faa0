"""The fast path for SDMX-ML accepts nothing that libxml2 refuses, and agrees with libxml2 on the rest."""

from __future__ import annotations

import random
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from kafka_replica.sdmx import Format, Message, split_message
from kafka_replica.sdmx.containers import InternationalString
from kafka_replica.sdmx.errors import SdmxError
from kafka_replica.sdmx.formats import sdmx_ml
from kafka_replica.sdmx.formats.ml.reading.parsing import parse
from kafka_replica.sdmx.formats.ml.reading.plain_tags import NotPlainError
from kafka_replica.sdmx.formats.ml.reading.plain_xml import Element, parsed
from kafka_replica.sdmx.messages.format import unpacked
from kafka_replica.sdmx.model import Codelist
from support.effort import examples
from support.paths import SDMX_DATA
from support.sdmx.sdmx_corpus import data_of, rows

ALL: Final = rows(("sdmx-ml", "2.1"), ("sdmx-ml", "3.0"), ("sdmx-ml", "3.1"))
OWN: Final = sorted(SDMX_DATA.glob("*.xml"))


def plainly(data: bytes) -> Element | None:
    """Return the root, or None where the document is left to libxml2."""
    try:
        return parsed(data)
    except (NotPlainError, UnicodeDecodeError):
        return None


def tree(element: Any) -> Any:
    """Return the content of an element of either kind."""
    inner = [tree(child) for child in element]
    return element.tag, list(element.items()), element.text or "", element.tail or "", inner


def comparable(message: Message) -> Any:
    """Return the content of a message, with its codes made."""
    return message.format, message.header, list(message)


def assert_the_same(data: bytes) -> bool:
    """Check that tree and texts equal those of libxml2, and tell whether the fast path took the document."""
    found = plainly(data)
    if found is None:
        return False
    other = parse(data).root if b"sdmx.org" in data else etree.fromstring(data)
    assert tree(found) == tree(other)
    assert "".join(found.itertext()) == "".join(str(text) for text in other.itertext())
    return True


@pytest.mark.thorough
@pytest.mark.parametrize("row", ALL)
def test_both_ways_agree_on_real_files(row: dict[str, str]) -> None:
    """The fast path and the general reader agree on real files, whole and split into small messages."""
    whole = unpacked(data_of(row)).lstrip()
    parts = [part.value for part in split_message(whole)] if len(whole) < 3_000_000 else []
    for data in (whole, *parts[:60]):
        if len(data) < 200_000:
            assert_the_same(data)
        found = sdmx_ml.read_fast(data)
        if found is not None:
            assert comparable(found) == comparable(sdmx_ml.read_message(data))


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_both_ways_agree_on_every_class(path: Any) -> None:
    """Most parts of the samples of structures in 2.1 and later take the fast path; parts of other messages do not."""
    parts = [part.value for part in split_message(path.read_bytes())]
    taken = 0
    for data in parts:
        assert_the_same(data)
        found = sdmx_ml.read_fast(data)
        if found is not None:
            taken += 1
            assert comparable(found) == comparable(sdmx_ml.read_message(data))
    document = parse(path.read_bytes())
    is_structure = str(document.root.tag).endswith("}Structure")
    if is_structure and document.format in {Format.SDMX_ML_2_1, Format.SDMX_ML_3_0, Format.SDMX_ML_3_1}:
        assert taken > len(parts) * 0.6, f"the fast path took {taken} of {len(parts)} messages"
    else:
        assert taken == 0


GOOD: Final = '<?xml version="1.0" encoding="UTF-8"?>\n<a:r xmlns:a="http://x.org/a" xmlns="http://x.org/d">{}</a:r>\n'
PLAIN: Final = [
    "<b/>", "<b></b>", "<b />", "<b\n/>", "<b >x</b>", "<a:b c='1' d=\"2\"/>", "<b c='\"' d=\"'\"/>", "<b c=''/>",
    "<b>x<c/>y</b>z", "<b a:c='1' c='2'/>", "<b xml:lang='fr'>\u00e9\U0001f600</b>", "<b c='&amp;&lt;&quot;&apos;'/>",
    "<b>&amp;lt; &gt;</b>", "<b c='1\n2\t3'/>", "<b>1\r\n2\r3</b>", "<b c='1\r\n2'/>", "<b c=\"it's\" d=\"&#38;\"/>",
    "<b>\u0085\u2028\x7f</b>", "<b.c-d_e/>", "<b\tc='1'\n\n  d='2'/>", "<b c='/'/>", "<b c='x/'></b>", "<b/><b/><b/>",
    "\ufffd", "<b xmlns:a='http://x.org/a' xmlns=\"http://x.org/d\"><a:c/></b>",
]  # fmt: skip


@pytest.mark.parametrize("inner", PLAIN)
def test_the_fast_parser_never_misreads_a_message(inner: str) -> None:
    """Every form that the fast parser knows is read like libxml2; the others are left to libxml2."""
    taken = assert_the_same(GOOD.format(inner).encode())
    assert taken or "#" in inner


BAD: Final = [
    "<b>", "</b>", "<b></c>", "<b/", "<>", "</>", "< b/>", "<b c/>", "<b c=1/>", "<b c='1'd='2'/>", "<b c='1' c='2'/>",
    "<b a:c='1' a:c='2'/>", "<x:b/>", "<b x:c='1'/>", "<b>&x;</b>", "<b>&</b>", "<b>&amp</b>", "<b c='&'/>",
    "<b c='<'/>",
    "<b>]]></b>", "<b>\x00</b>", "<b>\x0b</b>", "<b>\ufffe</b>", "<b>\uffff</b>", "<b c='\x01'/>", "<1/>", "<-b/>",
    "<b:c:d/>", "<:b/>", "<b:/>", "<b c='1\"/>", "<b c=\"1/>", "<b></b c='1'>", "<b></b", "<b c=\"1\" \"/>",
    "<b/ >", "<b//>", "<b></a:r><a:r>", "</a:r><a:r>", "</a:r>x<a:r>", "<b c='1'=/>", "<b =''/>", "<!b/>", "<?b>",
    "<b xmlns:x=''/>",
    "<b xmlns:a='http://x.org/a' xmlns:a='http://x.org/a'/>", "<b xmlns:a=''/>", "<b\x0bc='1'/>", "<b\u00a0c='1'/>",
    "<b><c></b></c>",
]  # fmt: skip


@pytest.mark.parametrize("inner", BAD)
def test_invalid_xml_is_left_to_libxml2(inner: str) -> None:
    """Invalid XML that libxml2 refuses is left to libxml2."""
    data = GOOD.format(inner).encode()
    with pytest.raises(etree.XMLSyntaxError):
        etree.fromstring(data)
    assert plainly(data) is None


@pytest.mark.parametrize(
    "data",
    [
        b"", b"x", b"<a/>", b"<a></a><a></a>", b"x<a></a>", b"<a></a>x", b"<!DOCTYPE a><a></a>", b"<a>\xff</a>",
        b"<a>\xed\xa0\x80</a>", b"<a>\xc0\x80</a>", b'<?xml version="1.0" encoding="latin-1"?><a>\xe9</a>',
        b'<?xml version="1.1"?><a></a>', b"<?xml version=\"1.0'?><a></a>",
        b"<a xmlns='http://x.:y/'></a>",
        b"<a xmlns:xml='http://x.org/'></a>", b"<a xmlns:xmlns='http://x.org/'></a>",
        b"<a xmlns='http://www.w3.org/2000/xmlns/'></a>", b"<a xmlns:b=''></a>", b"<a" + b" " * 9000 + b"></a>",
        b"<a>" * 300 + b"</a>" * 300, b"\xef\xbb\xbf<a></a>", b"<a xmlns='http://x.org/' xmlns='http://y.org/'></a>",
    ],
)  # fmt: skip
def test_documents_that_are_left_alone(data: bytes) -> None:
    """Documents with unusual prologs, encodings, namespaces or depth are left to libxml2, whether valid or not."""
    assert plainly(data) is None


@pytest.mark.thorough
def test_many_different_tags_do_not_stay_in_memory() -> None:
    """A hundred thousand different tags do not stay in memory, and change no result."""
    inner = "".join(f"<b c{number % 700}='{number}' d=\"{number}\"/>" for number in range(20_000))
    for _ in range(2):
        assert assert_the_same(GOOD.format(inner).encode())


def small_parts() -> list[bytes]:
    """Return our own samples in parts."""
    return [part.value for path in OWN for part in split_message(path.read_bytes()) if len(part.value) < 8_000]


_PARTS: Final = small_parts()
_JUNK: Final = ["<", ">", "&", "'", '"', "/", "=", " ", "\n", "\r", "]]>", "<b>", "</b>", "<!--x-->", "&amp;", "&#9;",
                "\x00",
                "xmlns:q='http://x.org/'", "xml:lang='", ":", "<![CDATA[x]]>", "<?p?>", "\u00e9", "\ufffe"]  # fmt: skip


@settings(max_examples=examples(200), deadline=None)
@given(st.integers(0, 10**9))
def test_damaged_texts_are_declined_or_read_like_libxml2(seed: int) -> None:
    """Texts that are cut, doubled and mixed with junk are either left alone, or well-formed and read like libxml2."""
    chance = random.Random(seed)
    text = chance.choice(_PARTS).decode()
    for _ in range(chance.randint(1, 3)):
        at, length = chance.randrange(len(text)), chance.choice([0, 0, 1, 2, 20])
        put = chance.choice([*_JUNK, text[at : at + length] * 2, ""])
        text = text[:at] + put + text[at + length :]
    data = text.encode()
    found = plainly(data)
    if found is None:
        return
    assert tree(found) == tree(etree.fromstring(data))
    fast = sdmx_ml.read_fast(data)
    if fast is not None:
        assert comparable(fast) == comparable(sdmx_ml.read_message(data))


@pytest.mark.parametrize(
    "inner", ["<b xmlns='http://x.org/a'/>", '<b xmlns:a="http://x.org/d"/>', "<b xmlns:c='http://c.org/'/>"]
)
def test_inner_namespaces_are_left_to_libxml2(inner: str) -> None:
    """Namespaces declared inside are left alone unless they repeat outer ones, as in parts of larger messages."""
    etree.fromstring(GOOD.format(inner).encode())
    assert plainly(GOOD.format(inner).encode()) is None


def test_content_that_the_fast_path_declines_gives_an_error_with_its_line() -> None:
    """Content that the fast path cannot read gives an error with its line."""
    data = next(part for part in _PARTS if b"/v2_1/" in part and sdmx_ml.read_fast(part))
    broken = data.replace(b' agencyID="', b' agencyID=" (', 1)
    assert sdmx_ml.read_fast(broken) is None
    with pytest.raises(SdmxError, match="line"):
        sdmx_ml.read_message(broken)


_V21: Final = "http://www.sdmx.org/resources/sdmxml/schemas/v2_1"
_CODELIST: Final = (
    f'<m:Structure xmlns:m="{_V21}/message" xmlns:s="{_V21}/structure" xmlns:c="{_V21}/common">'
    "<m:Structures><s:Codelists>"
    '<s:Codelist id="CL" agencyID="A" version="1.0"><c:Name>x</c:Name><s:Code id="X"><c:Name>x</c:Name></s:Code>'
    '<s:Code id="Y">{}</s:Code></s:Codelist></s:Codelists></m:Structures></m:Structure>'
)


@pytest.mark.parametrize(
    ("inner", "names", "parent"),
    [
        ("<c:Name>a<c:Name>b</c:Name>c</c:Name>", {"en": "abc"}, None),
        ("<c:Name>a</c:Name><c:Description><c:Name>b</c:Name></c:Description>", {"en": "a"}, None),
        ("<c:Name>a</c:Name><s:Parent>X<c:Name>b</c:Name></s:Parent>", {"en": "a"}, "Xb"),
        ("<c:Name>a</c:Name><s:Parent><Ref id='X'><c:Name>b</c:Name></Ref></s:Parent>", {"en": "a"}, "X"),
        ("<c:Name>a</c:Name><s:Code id='Z'><c:Name>b</c:Name></s:Code>", {"en": "a"}, None),
    ],
)
def test_codes_with_names_where_none_belong(inner: str, names: dict[str, str], parent: str | None) -> None:
    """Elements in a text are part of the text, misplaced names are not the code's, in both paths."""
    data = _CODELIST.format(inner).encode()
    found = sdmx_ml.read_fast(data)
    assert found is not None
    for message in (found, sdmx_ml.read_message(data)):
        (codelist,) = message
        assert isinstance(codelist, Codelist)
        assert (codelist.codes["Y"].names, codelist.codes["Y"].parent) == (InternationalString(names), parent)
