"""Small hand-written structure messages for the tests of sources and formats."""

from __future__ import annotations

from kafka_replica.sdmx import Urn

PREFIX = "urn:sdmx:org.sdmx.infomodel.codelist."
_ML = "http://www.sdmx.org/resources/sdmxml/schemas/v3_0"
_ML_2_1 = "http://www.sdmx.org/resources/sdmxml/schemas/v2_1"


def urn(id_: str, cls: str = "Codelist", version: str = "1.0") -> str:
    """Return the URN of a codelist of agency A."""
    return str(Urn.parse(f"{PREFIX}{cls}=A:{id_}({version})"))


def codelist(
    id_: str, *codes: str, footer: str = "", prepared: str = "2026-11-21T20:00:00Z", edition: str = "3.0"
) -> str:
    """Return a message of SDMX-ML with a codelist; ``id_`` may name several, separated by blanks."""
    ns = _ML if edition == "3.0" else _ML_2_1
    codes_xml = "".join(
        f'<str:Code id="{code}"><com:Name xml:lang="en">Code {code}</com:Name></str:Code>' for code in codes or ("X",)
    )
    lists = "".join(
        f'<str:Codelist id="{name}" agencyID="A" version="1.0"><com:Name xml:lang="en">{name}</com:Name>{codes_xml}'
        "</str:Codelist>"
        for name in id_.split()
    )
    return _message(ns, f"<str:Codelists>{lists}</str:Codelists>", footer, prepared)


def value_list(id_: str) -> str:
    """Return a message of SDMX-ML 3.0 with a value list, which older editions do not have."""
    item = '<str:ValueItem id="€"><com:Name xml:lang="en">Euro</com:Name></str:ValueItem>'
    name = f'<com:Name xml:lang="en">{id_}</com:Name>'
    held = f'<str:ValueList id="{id_}" agencyID="A" version="1.0">{name}{item}</str:ValueList>'
    return _message(_ML, f"<str:ValueLists>{held}</str:ValueLists>", "", "2026-11-21T20:00:00Z")


def _message(ns: str, structures: str, footer: str, prepared: str) -> str:
    return (
        f'<mes:Structure xmlns:mes="{ns}/message" xmlns:str="{ns}/structure" xmlns:com="{ns}/common">'
        f"<mes:Header><mes:ID>M{prepared[:4]}</mes:ID><mes:Test>false</mes:Test><mes:Prepared>{prepared}</mes:Prepared>"
        f'<mes:Sender id="A"/></mes:Header><mes:Structures>{structures}</mes:Structures>{footer}</mes:Structure>'
    )
