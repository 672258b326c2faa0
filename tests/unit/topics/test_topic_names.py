"""Names of topics and consumer groups: what is built is parsed as the same parts, and nothing has two meanings."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kafka_replica.errors import ConfigurationError
from kafka_replica.topics import (
    ANY,
    FOLIO,
    FOLIO_DATA_IMPORT,
    ConsumerGroup,
    TopicConvention,
    TopicName,
    TopicNameError,
    consumer_group,
    parse_consumer_group,
    parse_topic,
    producer_of,
)

PARTS = st.text("aZ0_-", min_size=1, max_size=20) | st.sampled_from(["Default", "ALL", "mod-x", "x-storage"])
TENANTS = st.builds(str.__add__, st.sampled_from("az"), st.text("a0_-", max_size=15)) | st.sampled_from(["ALL", "A1"])
PRODUCERS = PARTS.filter(lambda text: not text.endswith("-storage"))
TEMPLATES = st.sampled_from([
    "[{env}.]{tenant}.{producer}.{entity}", "{env}.{tenant}.{producer}.{entity}", "[{env}.]Default.{tenant}.{entity}",
    "{env}.{entity}", "[{env}.]{entity}", "topics.{entity}.{tenant}", "{entity}",
])  # fmt: skip


@st.composite
def named(draw: st.DrawFn, template: str) -> TopicName:
    """Return a name with the parts of a template."""
    env = draw(PARTS if "[{env}" not in template else st.none() | PARTS) if "{env}" in template else None
    tenant = draw(TENANTS) if "{tenant}" in template else None
    producer = draw(PRODUCERS) if "{producer}" in template else None
    return TopicName(env=env, tenant=tenant, producer=producer, entity=draw(PARTS))


@pytest.mark.thorough
@given(st.data())
def test_parts_survive_building_and_parsing(data: st.DataObject) -> None:
    """The name that a convention builds is parsed as the same parts, and Kafka accepts it."""
    template = data.draw(TEMPLATES)
    convention = TopicConvention(template)
    name = data.draw(named(template))
    topic = convention.build(name)
    assert re.fullmatch(r"[A-Za-z0-9._-]{1,249}", topic)
    assert convention.parse(topic) == name


@given(TEMPLATES, st.lists(st.none() | st.text("a.Z*-", max_size=4), min_size=4, max_size=4))
def test_any_parts_are_refused_or_survive(template: str, parts: list[str | None]) -> None:
    """Whatever the parts contain, no name is built that would be read as other parts."""
    env, tenant, producer, entity = parts
    convention, name = (
        TopicConvention(template),
        TopicName(env=env, tenant=tenant, producer=producer, entity=str(entity)),
    )
    try:
        topic = convention.build(name)
    except TopicNameError:
        return
    assert convention.parse(topic) == name


@given(st.data())
def test_topics_survive_parsing_and_building(data: st.DataObject) -> None:
    """A text is either refused, or its parts build the same text again."""
    text = data.draw(st.text("aA.-*", max_size=30) | st.text())
    convention = TopicConvention(data.draw(TEMPLATES))
    try:
        name = convention.parse(text)
    except TopicNameError:
        return
    assert convention.build(name) == text


@pytest.mark.thorough
@given(st.data())
def test_the_two_conventions_of_folio_never_overlap(data: st.DataObject) -> None:
    """Each topic that one of FOLIO's conventions builds is read by that convention alone."""
    convention = data.draw(st.sampled_from([FOLIO, FOLIO_DATA_IMPORT]))
    name = data.draw(named(convention.template))
    assert parse_topic(convention.build(name), [FOLIO, FOLIO_DATA_IMPORT]) == (convention, name)


@pytest.mark.thorough
@given(st.data())
def test_a_pattern_has_all_tenants_and_nothing_else(data: st.DataObject) -> None:
    """The pattern of an entity matches a topic exactly if only the tenant may differ."""
    name = data.draw(named(FOLIO.template))
    pattern = FOLIO.pattern(TopicName(env=name.env, tenant=ANY, producer=name.producer, entity=name.entity))
    other = data.draw(named(FOLIO.template))
    of_same = TopicName(env=name.env, tenant=other.tenant, producer=name.producer, entity=name.entity)
    assert pattern.matches(FOLIO.build(of_same))
    assert FOLIO.build(of_same).startswith(pattern.prefix)
    assume((other.env, other.producer, other.entity) != (name.env, name.producer, name.entity))
    assert not pattern.matches(FOLIO.build(other))
    assert FOLIO.all_of(name.env).matches(FOLIO.build(name))


def test_names_of_folio() -> None:
    """The examples of FOLIO's documentation are built, parsed and selected as it describes."""
    name = TopicName(env="bugfest", tenant="fs09000000", producer="inventory", entity="instance")
    assert FOLIO.build(name) == "bugfest.fs09000000.inventory.instance"
    assert FOLIO.parse("fs09000000.inventory.instance").env is None
    parsed = FOLIO_DATA_IMPORT.parse("ibf3.Default.fs09000000.DI_RAW_RECORDS_CHUNK_PARSED")
    assert (parsed.env, parsed.tenant, parsed.entity) == ("ibf3", "fs09000000", "DI_RAW_RECORDS_CHUNK_PARSED")
    assert FOLIO.parse("folio.ALL.inventory.item").is_tenant_collection
    assert not FOLIO.parse("folio.diku.inventory.item").is_tenant_collection
    pattern = FOLIO.pattern(TopicName(env="folio", tenant=ANY, producer="inventory", entity="item"))
    assert pattern.select(["folio.b.inventory.item", "folio.a.inventory.item", "folio.a.users.user", "x"]) == [
        "folio.a.inventory.item", "folio.b.inventory.item",
    ]  # fmt: skip
    assert pattern.prefix == "folio."


@pytest.mark.parametrize(
    ("module", "producer", "group"),
    [
        ("mod-inventory-storage", "inventory", "cg.inventory-storage"),
        ("mod-inventory-storage-27.1.0", "inventory", "cg.inventory-storage"),
        ("mod-users-19.4.0-SNAPSHOT.213", "users", "cg.users"),
        ("mgr-tenant-entitlements", "mgr-tenant-entitlements", "cg.mgr-tenant-entitlements"),
        ("edge-oai-pmh-2.7.1", "edge-oai-pmh", "cg.edge-oai-pmh"),
        ("inventory", "inventory", "cg.inventory"),
    ],
)
def test_names_of_modules(module: str, producer: str, group: str) -> None:
    """The producer's name has no prefix, version and suffix; the group keeps the suffix, by which modules differ."""
    assert producer_of(module) == producer
    assert consumer_group(module) == group


@given(PARTS, st.none() | TENANTS)
def test_consumer_groups_survive_building_and_parsing(module: str, tenant: str | None) -> None:
    """The group of a module is parsed as the same module and tenant."""
    try:
        group = consumer_group(module, tenant)
    except TopicNameError:
        assume(False)
    parsed = parse_consumer_group(group)
    assert parsed == ConsumerGroup(group.rpartition(".")[2], tenant)
    assert consumer_group(*parsed) == group


@pytest.mark.parametrize(
    ("template", "name", "expected_text"),
    [
        ("{env}.{entity}", TopicName(env="a.b", entity="c"), "has a dot, which separates the parts"),
        ("{env}.{entity}", TopicName(entity="c"), "needs env="),
        ("{env}.{entity}", TopicName(env="a", tenant="t", entity="c"), "has no place for tenant='t'"),
        ("{env}.{entity}", TopicName(env="a", entity=""), "must consist of letters"),
        ("{env}.{entity}", TopicName(env="a", entity="é"), "must consist of letters"),
        ("{env}.{entity}", TopicName(env="a", entity="*"), "is for patterns"),
        ("{entity}", TopicName(entity="x" * 250), "has 250 characters, and Kafka allows 249"),
        ("{producer}.{entity}", TopicName(producer="inventory-storage", entity="c"), "should be 'inventory'"),
    ],
)
def test_a_name_that_could_be_misread_is_refused(template: str, name: TopicName, expected_text: str) -> None:
    """The error states which part is wrong, and why."""
    with pytest.raises(TopicNameError, match=re.escape(expected_text)):
        TopicConvention(template).build(name)


@pytest.mark.parametrize(
    ("topic", "expected_text"),
    [
        ("a.b", "has 2 parts"),
        ("a.b.c.d.e", "has 5 parts"),
        ("folio.diku.inventory-storage.item", "should be 'inventory'"),
        ("folio..inventory.item", "must consist of letters"),
        ("folio.Default.diku.item", "is not a tenant"),
    ],
)
def test_a_topic_of_another_convention_is_refused(topic: str, expected_text: str) -> None:
    """Parsing names the first thing that does not fit."""
    with pytest.raises(TopicNameError, match=re.escape(expected_text)):
        FOLIO.parse(topic)


def test_a_topic_of_two_conventions_is_ambiguous() -> None:
    """A topic that two conventions read differently is refused, and both readings are shown."""
    conventions = [TopicConvention("{env}.{tenant}.{entity}"), TopicConvention("{tenant}.{producer}.{entity}")]
    with pytest.raises(TopicNameError, match=r"ambiguous.*env='a'.*producer='b'"):
        parse_topic("a.b.c", conventions)
    with pytest.raises(TopicNameError, match="has 1 parts"):
        parse_topic("a", conventions)


@pytest.mark.parametrize(
    ("template", "expected_text"),
    [
        ("{env}.{tennant}.{entity}", "did you mean 'tenant'?"),
        ("{tenant}-{entity}", "a part is one of"),
        ("{env}.{tenant}", "must have {entity}"),
        ("{entity}.{entity}", "each of its parts once"),
        ("[{env}]{entity}", "a part is one of"),
        ("", "a part is one of"),
    ],
)
def test_an_unusable_template_is_refused(template: str, expected_text: str) -> None:
    """A template with an unknown or ambiguous part is refused when the convention is made."""
    with pytest.raises(ConfigurationError, match=re.escape(expected_text)):
        TopicConvention(template)


@pytest.mark.parametrize("group", ["search", "cg", "cg.a.b.c", "cg.mod-search", "cg.search-1.2.3", "cg.é", "xy.search"])
def test_other_groups_are_refused(group: str) -> None:
    """A group without the prefix, or not in its short form, is refused."""
    with pytest.raises(TopicNameError, match="consumer group"):
        parse_consumer_group(group)
