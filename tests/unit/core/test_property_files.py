"""Settings files: Java properties as java.util.Properties reads them, and TOML."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_replica.common.property_files import filled, flat, parse_properties, read_settings_file
from kafka_replica.errors import ConfigurationError


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("a=b", "a", "b"),
        ("a: b", "a", "b"),
        ("a b", "a", "b"),
        ("  a \t= b ", "a", "b "),
        ("a", "a", ""),
        ("a==b", "a", "=b"),
        ("a = b: c = d", "a", "b: c = d"),
        ("a\\:b\\=c\\ d=e", "a:b=c d", "e"),
        ("a = b\\\n    c", "a", "bc"),
        ("a = b\\\\\nc = d", "a", "b\\"),
        ("a = \\u00e9\\t\\q\\ud83d\\ude00", "a", "é\tq\U0001f600"),
        ("# a comment \\\n! another one\n\n a=b", "a", "b"),
        ("a=b\r\nc=d", "a", "b"),
        ("a=b # no comment", "a", "b # no comment"),
    ],
)
def test_properties_are_read_as_java_reads_them(text: str, name: str, value: str) -> None:
    """Separators, escapes, comments and continued lines are read as documented for java.util.Properties."""
    _, *found = next(parse_properties(text))
    assert found == [name, value]


def test_each_property_keeps_its_line_number() -> None:
    """Each property has its line number: comments and continued lines count.

    The name decides the format, otherwise the content.
    """
    text = "# comment\na = b, \\\n  c\n\nd: e\n"
    assert [(line, name) for line, name, _ in parse_properties(text)] == [(2, "a"), (5, "d")]


@pytest.mark.parametrize(
    ("file_name", "text", "is_toml"),
    [
        ("a.properties", "acks = 1", False),
        ("a.toml", "acks = 1", True),
        ("a.conf", '[kafka]\n"client.id" = "x"', True),
        ("a.conf", "client.id=x", False),
        ("a", "client.id: x", False),
    ],
)
def test_the_format_of_a_file(file_name: str, text: str, is_toml: bool, tmp_path: Path) -> None:
    """The suffix decides the format where it is known; otherwise the content does."""
    path = tmp_path / file_name
    path.write_text(text)
    assert read_settings_file(path).is_toml is is_toml


def test_unreadable_files_are_reported(tmp_path: Path) -> None:
    """A missing file and invalid TOML are errors that name the file."""
    with pytest.raises(ConfigurationError, match=r"reading .*nothing: No such file"):
        read_settings_file(tmp_path / "nothing")
    (tmp_path / "a.toml").write_text("client.id: x")
    with pytest.raises(ConfigurationError, match=r"a\.toml as TOML"):
        read_settings_file(tmp_path / "a.toml")


def test_bytes_that_are_not_utf8_are_latin_1(tmp_path: Path) -> None:
    """Bytes that are not UTF-8 are read as Latin-1, as Java does; a byte order mark is not part of the first name."""
    path = tmp_path / "a.properties"
    path.write_bytes(b"a=\xe9")
    assert read_settings_file(path).values == {"a": "é"}
    path.write_bytes("\ufeffa=é".encode())
    assert read_settings_file(path).values == {"a": "é"}


def test_dotted_names_and_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """TOML's nested tables become dotted names; variables come from the environment."""
    assert flat({"security": {"protocol": "SSL"}, "ssl.ca.pem": "x"}) == {"security.protocol": "SSL", "ssl.ca.pem": "x"}
    monkeypatch.setenv("KR_TEST_VALUE", "secret")
    assert filled(["${KR_TEST_VALUE}", 1], "here") == ("secret", 1)
    with pytest.raises(ConfigurationError, match="here: the environment variable KR_TEST_MISSING is not set"):
        filled("${KR_TEST_MISSING}", "here")
