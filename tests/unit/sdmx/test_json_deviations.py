"""Unusual members and values in JSON messages: those that schemas allow, and those that real writers send."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from kafka_replica.sdmx import InternationalString, read_message, split_message
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.json_shared import splitting
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.model import MetadataSetOfReports
from support.sdmx.sdmx_json_samples import CODELIST, CONCEPT, FLOW, URN, artefact, message, named


def only(data: bytes, content_type: str | None = None) -> Any:
    """Return the only artefact of a message, after checking that splitting gives the same."""
    [found] = read_message(data, content_type)
    [part] = split_message(data, content_type)
    assert list(read_message(part.value, part.content_type)) == [found]
    return found


def fusion(**members: Any) -> bytes:
    """Return a message of Fusion-JSON."""
    return json.dumps(members).encode()


SCHEMA: Final = "https://json.sdmx.org/2.0.0/sdmx-json-structure-schema.json"


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("https://registry.org/rest/datastructure/ECB/ECB_EXR1/1.0", True),
        ("https://registry.org/sdmx/v2/structure/datastructure/ECB/ECB_EXR1/2.0", True),
        (SCHEMA, False),
        ("https://example.org/metadata-message/tools/schemas/2.0.0/sdmx-json-metadata-schema.json", False),
    ],
)
def test_the_uri_of_an_artefact_is_kept_unless_it_is_a_schema(uri: str, expected: bool) -> None:
    """Only the file name of a JSON schema marks a uri as unrelated to the artefact and its items."""
    links = [{"rel": "self", "urn": CODELIST, "uri": uri}]
    found = only(message({"codelists": [artefact("CL", links=links, codes=[named("X", links=links)])]}))
    assert found.uri == found.codes["X"].uri == (uri if expected else None)


@pytest.mark.parametrize(
    "other", [{"x-foo": {"a": 1}}, {"x-foo": [{"a": 1}]}, {"adipisicing7a": True}, {"foo": {"a": 1}}, {"foo": "text"}]
)
def test_members_that_hold_no_artefacts_are_ignored(other: dict[str, Any]) -> None:
    """Extensions and unknown members that are not lists are ignored next to the lists of both formats."""
    assert only(message({"codelists": [artefact("CL", codes=[named("X")])]} | other)).id == "CL"
    assert only(fusion(meta={}, Codelist=[{"id": "CL", "agencyId": "A"}], **other)).id == "CL"


@pytest.mark.parametrize(
    "data",
    [
        message({"foo": {"a": 1}}),
        fusion(status=404, error="Not Found"),
        fusion(timestamp="x", status=404, error="Not Found", message=None, path="/"),
        fusion(data={"items": [], "total": 0}),
        b'{"data": {"items": [ \n ], "total": 0}}',
        fusion(data={"message": None, "total": 0}),
        fusion(data={"errors": [], "code": 404}),
        fusion(data={"structures": [], "observations": {}}),
        fusion(header={}, dataSets=[], structure={}),
    ],
)
def test_a_message_of_other_members_alone_is_refused(data: bytes) -> None:
    """A message that has none of the lists is not a message of structures, whatever its content type says."""
    for content_type in (None, Format.FUSION_JSON):
        for read in (read_message, split_message):
            with pytest.raises(MessageError, match="its keys are"):
                read(data, content_type)


@pytest.mark.parametrize(
    "data", [{"codelists": []}, {"codelists": [], "total": 0}, {"foo": []}, {"x-foo": {"a": 1}, "foo": None}, {}]
)
def test_lists_without_artefacts_make_an_empty_message(data: dict[str, Any]) -> None:
    """Lists may be empty, with unknown members next to a known list."""
    assert list(read_message(fusion(data=data))) == []


@pytest.mark.parametrize("data", [{}, {"x-foo": 1}, None])
def test_errors_next_to_data_without_lists_are_refused(data: Any) -> None:
    """A message without lists that states errors is the response of a registry."""
    with pytest.raises(MessageError, match="the error of a registry"):
        read_message(fusion(data=data, errors=[{"code": 404}]))


def test_data_next_to_lists_of_fusion_is_refused() -> None:
    """Artefacts in an object next to the lists of Fusion-JSON are not lost silently."""
    lists: dict[str, Any] = {"meta": {}, "Codelist": [{"id": "CL", "agencyId": "A"}]}
    with pytest.raises(MessageError, match="next to 'data'"):
        read_message(fusion(**lists, data={"metadatasets": [{"id": "S", "agencyId": "A"}]}))
    empty: tuple[Any, ...] = ({}, None, "text")
    assert [only(fusion(**lists, data=data)).id for data in empty] == ["CL"] * 3


@pytest.mark.parametrize("extension", [[{"a": 1}], [{"agencyId": "A"}], {"a": 1}])
def test_extensions_next_to_lists_without_data_are_ignored(extension: Any) -> None:
    """Extensions are ignored where the object around the lists of SDMX-JSON is missing, and decide no format."""
    lists: dict[str, Any] = {"codelists": [artefact("CL", codes=[named("X")])], "x-foo": extension}
    assert list(only(fusion(**lists)).codes) == ["X"]


def test_a_header_of_null_alone_is_refused() -> None:
    """Only an object as header makes a message without lists an empty one."""
    assert list(read_message(fusion(meta={}))) == []
    for read in (read_message, split_message):
        with pytest.raises(MessageError, match="its keys are"):
            read(fusion(meta=None))


def test_extensions_alone_make_an_empty_message() -> None:
    """A message of extensions only is valid and has no artefacts."""
    assert list(read_message(message({"x-foo": {"a": 1}}))) == []


@pytest.mark.parametrize("data", [fusion(meta=None, Codelist=[{"id": "CL", "agencyId": "A", "version": "1.0"}])])
def test_a_header_of_null_is_no_header(data: bytes) -> None:
    """Fusion-JSON may have null instead of a header."""
    assert only(data).id == "CL"


@pytest.mark.parametrize(
    ("member", "value"), [("id", 12), ("contentLanguages", {"a": 1}), ("sender", [{"id": "A"}]), ("test", None)]
)
def test_members_of_the_header_with_a_wrong_type_are_left_out(member: str, value: Any) -> None:
    """The artefacts and the rest of the header are read, whichever member of the header has a wrong type."""
    for data in (
        message({"codelists": [artefact("CL")]}, **{member: value}),
        fusion(
            meta={"id": "M1", "prepared": "2024-01-01T00:00:00", member: value},
            Codelist=[{"id": "CL", "agencyId": "A"}],
        ),
    ):
        found = read_message(data)
        assert [one.id for one in found] == ["CL"]
        assert found.header.prepared == "2024-01-01T00:00:00"
        assert found.header.id == (None if member == "id" else "M1")


def test_a_test_flag_that_is_not_a_boolean_is_refused() -> None:
    """A test message is not taken for another one; if errors are collected, its artefacts are read."""
    for data in (
        message({"codelists": [artefact("CL")]}, test="perhaps"),
        fusion(meta={"id": "M1", "test": "perhaps"}, Codelist=[{"id": "CL", "agencyId": "A"}]),
    ):
        with pytest.raises(MessageError, match="test"):
            read_message(data)
        found = read_message(data, on_error="collect")
        assert ([one.id for one in found], found.header.id, found.header.test) == (["CL"], "M1", False)


@pytest.mark.parametrize("extra", [{}, {"x-foo": 1}])
def test_a_text_as_languages_is_the_only_language(extra: dict[str, Any]) -> None:
    """Names without a language have the only language that the header states, whether listed or not."""
    for languages in ("fr", ["fr"]):
        found = only(message({"codelists": [artefact("CL", names=None, name="N")]} | extra, contentLanguages=languages))
        assert found.names.texts == (("fr", "N"),)


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"isMandatory": True}, True),
        ({"isMandatory": "true"}, True),
        ({"isMandatory": "False"}, False),
        ({"isMandatory": "yes"}, False),
        ({"isMandatory": 5}, False),
        ({"isMandatory": False}, False),
        ({"isMandatory": True, "usage": "optional"}, False),
        ({"isMandatory": False, "assignmentStatus": "Mandatory"}, True),
    ],
)
def test_is_mandatory_counts_without_a_usage(members: dict[str, Any], expected: bool) -> None:
    """``isMandatory`` of attributes and measures has a meaning where the member of the schemas is missing."""
    component = {"id": "X", "conceptIdentity": f"{CONCEPT}X"} | members
    other = component | {"id": "Y"}
    lists = {"attributeList": {"attributes": [component]}, "measureList": {"measures": [other]}}
    found = only(message({"dataStructures": [artefact("D", dataStructureComponents=lists)]}))
    assert (found.attributes["X"].mandatory, found.measures["Y"].mandatory) == (expected, expected)


OF_CODES: Final = {"dataType": "String", "maxLength": 3}
OF_TEXT: Final = {"dataType": "Integer"}


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"enumeration": CODELIST, "enumerationFormat": OF_CODES, "textFormat": OF_TEXT}, "String"),
        ({"enumeration": CODELIST, "enumerationFormat": OF_CODES, "format": OF_TEXT}, "String"),
        ({"enumeration": CODELIST, "textFormat": OF_TEXT}, "Integer"),
        ({"enumerationFormat": OF_CODES, "textFormat": OF_TEXT}, "Integer"),
        ({"enumerationFormat": OF_CODES}, "String"),
    ],
)
def test_the_format_that_fits_a_representation_is_read(members: dict[str, Any], expected: str) -> None:
    """With a codelist, the format of codes is read; without one, that of the text."""
    found = only(message({"conceptSchemes": [artefact("CS", concepts=[named("A", coreRepresentation=members)])]}))
    assert found.concepts["A"].core_representation.format.text_type == expected


def test_a_name_gives_way_to_the_text_in_its_language() -> None:
    """A name that differs from the text of the message's language is not a second text in that language."""
    found = only(message({"codelists": [artefact("CL", name="N", names={"EN": "E", "fr": None})]}))
    assert found.names.texts == (("EN", "E"),)
    assert only(message({"codelists": [artefact("CL", name="N", names={"en": None})]})).names.texts == (("en", "N"),)


def test_texts_of_contacts_by_language_under_the_singular_name() -> None:
    """Texts by language of a contact are read under either name."""
    contact = {"name": {"en": "N"}, "department": {"en": "D", "fr": None}, "role": {"en": "R", "fr": "Q"}}
    [provider] = only(
        message({"dataProviderSchemes": [artefact("DATA_PROVIDERS", dataProviders=[named("P", contacts=[contact])])]})
    ).organisations.values()
    [found] = provider.contacts
    assert (dict(found.names), dict(found.departments), dict(found.roles)) == (
        {"en": "N"}, {"en": "D"}, {"en": "R", "fr": "Q"}
    )  # fmt: skip


def reported(written: str, **more: Any) -> list[Any]:
    """Return a reported attribute with a value as written, from both formats."""
    attribute = json.dumps({"id": "X", "value": "@"} | more).replace('"@"', written)
    set_ = json.dumps({"id": "S", "agencyID": "A", "attributes": ["@"]}).replace('"@"', attribute)
    texts = (f'{{"meta":{{}},"data":{{"{name}":[{set_}]}}}}' for name in ("metadataSets", "metadatasets"))
    return [only(text.encode()).attributes[0] for text in texts]


@pytest.mark.parametrize(
    ("written", "values", "texts"),
    [
        ('{"en":"x","fr":null}', (), (("en", "x"),)),
        ('{ "en" : "x:é" , "fr" : "y" }', (), (("en", "x:é"), ("fr", "y"))),
        ('{"fr":null}', (), ()),
        ("0.30000000000000000001", ("0.30000000000000000001",), ()),
        ("1.10", ("1.10",), ()),
        ("1e400", ("1e400",), ()),
        ("12345678901234567890123", ("12345678901234567890123",), ()),
        ('[ 1.10, "a", true ]', ("1.10", "a", "true"), ()),
        ('"a\\u00e9"', ("aé",), ()),
        ("null", (), ()),
        ('{ "a" : 1.10,\n "b": ["x: y", {}] }', ('{"a":1.10,"b":["x: y",{}]}',), ()),
        ('[ { "a" : 1.10 }, [ 1, "b" ] ]', ('{"a":1.10}', '[1,"b"]'), ()),
    ],
)
def test_values_of_reported_attributes_are_exact(written: str, values: Any, texts: Any) -> None:
    """Numbers keep their digits, null is not a text, and whitespace around values has no meaning, in both formats."""
    for found in reported(written):
        assert (found.values, found.texts.texts) == (values, texts)


@pytest.mark.parametrize("written", ['{"en":"x","en":"y"}', '{"en":"x","e\\u006e":"y"}', '["a",{"b":1,"b":2}]'])
def test_a_repeated_name_in_a_reported_value_is_refused(written: str) -> None:
    """A name twice in a value is refused, as anywhere else."""
    with pytest.raises(MessageError, match="duplicate"):
        reported(written)


def test_a_repeated_name_next_to_a_very_large_number_is_refused() -> None:
    """Repeated names are found in a message with a number that is too large for a float."""
    [plain, _] = reported("1e400")
    assert plain.values == ("1e400",)
    with pytest.raises(MessageError, match="duplicate"):
        reported('1e400, "id": "Y"')


def test_damage_after_a_very_large_number_and_a_repeated_name_is_refused() -> None:
    """Damage is refused in both modes, whatever comes before it."""
    data = b'{"data":{"codelists":[{"a":1e400,"b":1,"b":2}],"c":'
    for on_error in ("raise", "collect"):
        with pytest.raises(MessageError):
            read_message(data, on_error=on_error)


def test_texts_of_fusion_are_listed_by_language() -> None:
    """Fusion-JSON lists texts by language; a list of other values stays a list."""
    listed = '[{"locale":"en","value":"a"},{"locale":"fr","value":1.10}]'
    assert reported(listed)[1].texts.texts == (("en", "a"), ("fr", "1.10"))
    assert reported('["{\\"locale\\":1}"]')[1].values == ('{"locale":1}',)


def test_xhtml_is_a_structured_text() -> None:
    """A value with the type XHTML is a structured text, by language or in the language of the message."""
    [found, _] = reported('{"en":"<p>a &amp; b</p>"}', format={"dataType": "XHTML"})
    assert (found.texts.texts, found.structured_texts.texts) == ((), (("en", "<p>a &amp; b</p>"),))
    [found, _] = reported('"<p>a</p>"', format={"dataType": "XHTML", "maxLength": 9})
    assert (found.values, found.structured_texts.texts) == ((), (("en", "<p>a</p>"),))
    [found, _] = reported('"a & b<br>"', format={"dataType": "XHTML"})
    assert (found.values, found.structured_texts.texts) == (("a & b<br>",), ())
    [found, _] = reported("1", format={"dataType": "XHTML"})
    assert (found.values, found.structured_texts.texts) == (("1",), ())


PROVIDER: Final = f"{URN}base.DataProvider=A:DATA_PROVIDERS(1.0).STAT"
BELOW: Final = {"id": "B", "texts": {"en": "t"}}
REPORT: Final = {
    "id": "R",
    "target": {
        "id": "T",
        "referenceValues": [
            {"id": "FLOW", "object": FLOW},
            {"id": "KEY", "dataKey": {"keyValues": [{"id": "FREQ", "value": "A"}]}},
            {"id": "SET", "dataSet": {"dataProvider": PROVIDER, "id": "DS"}},
            {"id": "TIME", "reportPeriod": "2020"},
        ],
    },
    "attributeSet": {
        "reportedAttributes": [
            {"id": "A", "value": "v", "attributeSet": {"reportedAttributes": [BELOW]}},
            {"id": "C", "structuredText": "<p/>"},
        ]
    },
}
OF_1_0: Final = "https://example.org/metadata-message/tools/schemas/1.0/sdmx-json-metadata-schema.json"


@pytest.mark.parametrize(
    ("members", "agency"),
    [({"dataProvider": PROVIDER}, "STAT"), ({"agencyID": "AG", "dataProvider": PROVIDER}, "AG"), ({}, "SENDER")],
)
def test_metadata_sets_of_1_0_are_reports(members: dict[str, Any], agency: str) -> None:
    """A set of 1.0 has the agency of its provider, and its reports, targets and attributes are read."""
    set_ = {"id": "S", "reports": [REPORT]} | members
    found = only(message({"metadataSets": [set_]}, schema=OF_1_0, sender={"id": "SENDER"}))
    assert isinstance(found, MetadataSetOfReports)
    assert (found.agency, found.targets) == (agency, (FLOW,))
    [report] = found.reports
    assert found.attributes == report.attributes
    assert (report.id, report.target) == ("R", "T")
    of_flow, of_key, of_set, of_time = report.target_objects
    assert str(of_flow.object) == FLOW
    assert of_key.data_key is not None
    assert of_key.data_key.key_values[0].values[0].value == "A"
    assert of_set.data_set is not None
    assert (of_set.data_set.id, of_time.report_period) == ("DS", "2020")
    first, second = report.attributes
    assert (first.values, first.attributes[0].texts.texts) == (("v",), (("en", "t"),))
    assert second.structured_texts == InternationalString({"en": "<p/>"})


def test_a_metadata_set_without_an_agency_is_refused() -> None:
    """A set of 1.0 without a sender or provider, and a set of 2.x without an agency, have no URN."""
    for set_ in ({"id": "S", "reports": [REPORT]}, {"id": "S", "attributes": []}):
        senders: tuple[Any, ...] = ({}, None, [1])
        for sender in senders:
            with pytest.raises(MessageError, match="no agency"):
                read_message(message({"metadataSets": [set_]}, sender=sender))
    with pytest.raises(MessageError, match="data provider"):
        read_message(message({"metadataSets": [{"id": "S", "reports": [REPORT], "dataProvider": "x"}]}))


def test_reports_of_fusion_are_refused() -> None:
    """The reports of SDMX-JSON 1.0 are not lost in Fusion-JSON, and give a set no agency."""
    sender = {"sender": {"id": "SND"}}
    for agency, problem in (({}, "no agency"), ({"agencyId": "A"}, "no reports")):
        with pytest.raises(MessageError, match=problem):
            read_message(fusion(meta=sender, data={"metadatasets": [{"id": "S", "reports": [{"id": "R"}]} | agency]}))
    assert only(fusion(data={"metadatasets": [{"id": "S", "agencyId": "A", "reports": []}]})).id == "S"


def test_a_single_metadata_set_of_1_0_has_the_id_of_the_message() -> None:
    """The id of a set is optional in 1.0; only one set of a message may take that of the message."""
    set_ = {"agencyID": "A", "reports": [REPORT]}
    assert only(message({"metadataSets": [set_]})).id == "M1"
    assert only(message({"metadataSets": [set_ | {"id": "S"}]})).id == "S"
    several: list[dict[str, Any]] = [
        {"metadataSets": [set_, set_ | {"id": "S"}]},
        {"metadataSets": [set_], "MetadataSets": [set_ | {"id": "S"}]},
        {"metadataSets": [{"agencyID": "A", "attributes": []}]},
    ]
    for data in several:
        with pytest.raises(MessageError, match="no id"):
            read_message(message(data))


def test_the_sender_is_read_once_for_all_metadata_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cost of the agencies of metadata sets does not grow with their number times the size of the header."""
    decoded: list[bytes] = []

    class Counting:
        """A decoder that records what it decodes."""

        def decode(self, data: bytes) -> Any:
            """Decode as the original decoder."""
            decoded.append(bytes(data))
            return original.decode(data)

    original = splitting._SENDER
    monkeypatch.setattr(splitting, "_SENDER", Counting())
    sets = [{"id": f"S{n}", "reports": [REPORT]} for n in range(20)]
    found = split_message(message({"metadataSets": sets}, schema=OF_1_0, sender={"id": "SENDER"}))
    assert {part.urn.agency for part in found} == {"SENDER"}
    assert len(decoded) == 1


def test_availability_constraints_with_numbers_as_texts() -> None:
    """Numbers where texts are expected are read in availability constraints, as in artefacts."""
    region = {"keyValues": [{"id": "TIME", "values": [2020]}]}
    [found] = read_message(message({"availabilityConstraints": [{"cubeRegion": region}]})).availability_constraints
    assert found.cube_regions[0].key_values[0].values[0].value == "2020"


@pytest.mark.parametrize(("most", "expected"), [("-1", "unbounded"), (-1, "unbounded"), ("2", 2)])
def test_minus_one_occurrence_of_fusion_is_unbounded(most: Any, expected: Any) -> None:
    """A metadata attribute may state with -1 that it is unbounded."""
    attribute = {"id": "X", "maxOccurs": most}
    found = only(fusion(MetadataStructure=[{"id": "M", "agencyId": "A", "metadataAttributes": [attribute]}]))
    assert found.metadata_attributes["X"].max_occurs == expected


@pytest.mark.parametrize(("most", "expected"), [("3", 3), (3, 3), ("unbounded", "unbounded"), (None, None)])
def test_occurrences_of_fusion_may_be_texts(most: Any, expected: Any) -> None:
    """A number of occurrences may be a text; only a metadata attribute without one is unbounded."""
    attribute = {"id": "X", "maxOccurs": most, "representation": {"maxOccurs": most, "textFormat": {}}}
    found = only(fusion(MetadataStructure=[{"id": "M", "agencyId": "A", "metadataAttributes": [attribute]}]))
    one = found.metadata_attributes["X"]
    assert (one.max_occurs, one.representation.max_occurs) == (expected or "unbounded", expected)


def test_values_of_fusion_that_stand_only_in_the_cascade() -> None:
    """Values that are listed only as cascading are selected, too."""
    cube = {"REF_AREA": {"values": ["FR", "DE"], "cascade": ["EU", "DE"]}}
    found = only(fusion(DataConstraint=[{"id": "C", "agencyId": "A", "includeCube": cube}]))
    [selection] = found.cube_regions[0].key_values
    assert [(one.value, one.cascade_values) for one in selection.values] == [
        ("FR", None), ("DE", "true"), ("EU", "true")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("literal", "version"), [("1.0", "1.0"), ("1", "1"), ("2.10", "2.10"), ('"1.0"', "1.0"), ("null", "1.0")]
)
def test_numbers_where_texts_are_expected_are_read_as_written(literal: str, version: str) -> None:
    """A version, id, name, title or value that is a number has the text of the number, in both formats."""
    note = '[{"title":5,"type":1.50,"value":true}]'
    head = f'"id":7,"version":{literal},"annotations":{note},"isPartial":true'
    of_sdmx = '"codes":[{"id":1,"name":2020},{"id":2.0,"names":{"en":2021}}]'
    of_fusion = '"items":[{"id":1,"names":[{"value":2020}]},{"id":2.0,"names":[{"value":2021}]}],"startDate":0'
    formats = (
        f'{{"data":{{"codelists":[{{"agencyID":"A",{head},{of_sdmx}}}]}}}}',
        f'{{"Codelist":[{{"agencyId":"A",{head},{of_fusion}}}]}}',
    )
    for text in formats:
        found = only(text.encode())
        assert (found.id, found.version, found.is_partial) == ("7", version, True)
        assert {id_: code.name() for id_, code in found.codes.items()} == {"1": "2020", "2.0": "2021"}
        assert (found.annotations[0].title, found.annotations[0].type) == ("5", "1.50")
        assert found.annotations[0].value == "true"
    assert found.valid_from == "1970-01-01T00:00:00"


def test_numbers_stay_numbers_where_numbers_are_expected() -> None:
    """Only members that are texts change: the facets of a format and occurrences next to them are read as numbers."""
    core = {"format": {"maxLength": 3, "minValue": 1.5, "dataType": "String"}, "minOccurs": 0, "maxOccurs": 5}
    concept = {"id": 1, "name": "N", "coreRepresentation": core}
    found = only(message({"conceptSchemes": [artefact("CS", version=1, concepts=[concept])]}))
    one = found.concepts["1"].core_representation
    assert (one.format.max_length, str(one.format.min_value), one.min_occurs, one.max_occurs) == (3, "1.5", 0, 5)


@pytest.mark.parametrize(
    "members", [{"version": 1, "names": ["x"]}, {"version": [1]}, {"id": True, "codes": [7]}, {"id": {"a": 1}}]
)
def test_other_wrong_types_are_refused(members: dict[str, Any]) -> None:
    """Lists and objects are not read as texts, nor numbers as objects."""
    with pytest.raises(MessageError, match="Expected"):
        read_message(message({"codelists": [artefact("CL", codes=[]) | members]}))


LIST = [{"id": "CL", "agencyID": "KR", "version": "1.0"}]


@pytest.mark.parametrize("errors", ["[ ]", "[\n]", "null", "[]"])
@pytest.mark.parametrize("rest", ['"data": {}', '"data": null', '"data": {"codelists": %s}', '"codelists": %s'])
def test_an_empty_list_of_errors_may_have_blanks(errors: str, rest: str) -> None:
    """Printers of JSON write an empty list in several ways."""
    body = rest % json.dumps(LIST) if "%s" in rest else rest
    assert len(read_message(f'{{"errors": {errors}, {body}}}'.encode())) == ("%s" in rest)


@pytest.mark.parametrize(
    "message",
    [
        {"errors": [{"code": 404}], "data": {"codelists": []}},
        {"errors": [{"code": 404}], "data": {"codelists": None}},
        {"data": {}, "codelists": LIST},
        {"data": None, "codelists": LIST},
        {"data": {"codelists": []}, "codelists": LIST},
    ],
)
def test_errors_and_lists_in_two_places_are_refused(message: object) -> None:
    """Neither is an empty message."""
    with pytest.raises(MessageError, match=r"error of a registry|next to 'data'"):
        read_message(json.dumps(message).encode())
