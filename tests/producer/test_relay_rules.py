"""The relay's rules: whatever dies, stalls or fails at any step, Kafka holds 1, 2, 3, ... and nothing else."""

from __future__ import annotations

import random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from relay_world import Instance, Luck, World

from kafka_replica.broker.faults import Fault
from kafka_replica.producer.relay.events import (
    Acquire,
    Committed,
    Connect,
    Connected,
    Decision,
    Event,
    KafkaFailed,
    Leased,
    Look,
    Looked,
    Marked,
    MarkSent,
    Pause,
    Send,
    Started,
    Suspend,
    Wait,
    Waited,
)
from kafka_replica.producer.relay.rules import Relay

Script = list[tuple[str, int, Luck]]


def script_of(seed: int, length: int, instances: int, hardship: float) -> Script:
    """A long random history: lists that Hypothesis draws element by element stay too short to get anywhere."""
    dice = random.Random(seed)

    def fate() -> Luck:
        return dice.choice(list(Luck)[1:]) if dice.random() < hardship else Luck.WELL

    acts = dice.choices(["step", "record", "lease runs out", "resume"], [30, 2, 1, 1], k=length)
    return [(act, dice.randrange(instances), fate()) for act in acts]


SCRIPTS = st.builds(
    script_of, st.integers(0, 1 << 32), st.integers(0, 600), st.integers(1, 3), st.sampled_from([0.0, 0.02, 0.1, 0.3])
)


def play(script: Script, relay: type[Relay] = Relay) -> World:
    """Three instances, in the order and with the luck of the script; then all is well for long enough."""
    world = World()
    luck = [Luck.WELL]
    instances = [Instance(world, name, lambda: luck[0], relay) for name in range(3)]
    for act, who, fate in script:
        luck[0] = fate
        if act == "step":
            instances[who].step()
        elif act == "record":
            world.recorded += 1
        elif act == "resume":
            world.running = True
        else:
            world.owner = None
    luck[0] = Luck.WELL
    world.recorded += 1
    for number in range(1500):
        if not world.running:
            world.running = True
        if number % 400 == 0:
            world.owner = None
        instances[number % 3].step()
    return world


@settings(max_examples=500, deadline=None)
@given(SCRIPTS)
def test_exactly_once_and_in_order_whatever_happens(script: Script) -> None:
    """At every moment; and once all is well, everything has arrived and is marked."""
    world = play(script)
    assert world.log == list(range(1, world.recorded + 1))
    assert world.sent == world.recorded


class TrustsTheDatabase(Relay):
    """Believes what is marked, and does not ask Kafka what has arrived."""

    def on(self, event: Event) -> Decision:
        """One rule is another."""
        if isinstance(event, Connected) and self._seen is not None:
            event = Connected(self._seen.sent)
        return super().on(event)


class TriesAgainAtOnce(Relay):
    """Sends once more on the same connection when no answer came."""

    def on(self, event: Event) -> Decision:
        """One rule is another."""
        if isinstance(event, KafkaFailed) and event.may_have_arrived and self._sending is not None:
            return Send(self._sending)
        return super().on(event)


@pytest.mark.parametrize("wrong", [TrustsTheDatabase, TriesAgainAtOnce])
def test_a_rule_that_is_left_out_is_missed(wrong: type[Relay]) -> None:
    """Shows that the check above finds something."""

    @settings(max_examples=500, deadline=None, database=None, derandomize=True, phases=[Phase.generate])
    @given(SCRIPTS)
    def look(script: Script) -> None:
        play(script, wrong)

    with pytest.raises(BaseException, match="Kafka has") as found:
        look()
    assert not isinstance(found.value, KeyboardInterrupt)


def ready(retries: int = 3, *, sent: int = 4, recorded: int = 5, progress: int | None = 4) -> tuple[Relay, Decision]:
    """Rules that have connected and looked."""
    relay = Relay(retries)
    seen = Looked(running=True, sent=sent, recorded=recorded, next_ids=tuple(range(sent + 1, recorded + 1)))
    assert relay.on(Started()) == Acquire()
    relay.on(Leased())
    assert relay.on(seen) == Connect()
    assert relay.on(Connected(progress)) == Acquire(), "the lease may be lost by now"
    relay.on(Leased())
    return relay, relay.on(seen)


def test_what_may_pass_is_tried_three_times_then_the_producer_suspends_itself() -> None:
    """Each time on a new connection."""
    relay, decision = ready()
    for attempt in (1, 2, 3):
        assert decision == Send(5)
        assert relay.on(KafkaFailed(Fault.TRANSITORY, "down")) == Wait(Pause.RETRY, attempt)
        assert not relay.connected
        relay.on(Waited())
        relay.on(Leased())
        seen = Looked(running=True, sent=4, recorded=5, next_ids=(5,))
        assert relay.on(seen) == Connect()
        relay.on(Connected(4))
        relay.on(Leased())
        decision = relay.on(seen)
    assert relay.on(KafkaFailed(Fault.TRANSITORY, "down", True)) == Suspend(5, Fault.TRANSITORY, "down", True)
    relay.on(Marked())
    assert relay.on(Looked(running=False, sent=4, recorded=5, next_ids=(5,))) == Wait(Pause.WORK)


def test_a_commit_without_an_answer_is_in_doubt_until_kafka_is_asked() -> None:
    """That nothing can be reached afterwards does not mean that it never left."""
    relay = Relay(retries=1)
    for event in (Started(), Leased(), Looked(True, 4, 5, (5,)), Connected(4), Leased()):
        relay.on(event)
    assert relay.on(Looked(True, 4, 5, (5,))) == Send(5)
    assert relay.on(KafkaFailed(Fault.TRANSITORY, "no answer", True)) == Wait(Pause.RETRY, 1)
    for event in (Waited(), Leased()):
        relay.on(event)
    assert relay.on(Looked(True, 4, 5, (5,))) == Connect()
    decision = relay.on(KafkaFailed(Fault.TRANSITORY, "down"))
    assert isinstance(decision, Suspend)
    assert (decision.tx_id, decision.may_have_arrived) == (5, True)
    assert "whether transaction 5 has arrived" in decision.reason
    for event in (Waited(), Leased(), Looked(True, 4, 5, (5,)), Connected(4), Leased(), Looked(True, 4, 5, (5,))):
        relay.on(event)
    assert relay.on(KafkaFailed(Fault.REFUSED, "no")) == Suspend(5, Fault.REFUSED, "no", False), "it was asked"


@pytest.mark.parametrize("fault", [Fault.LOCAL, Fault.REFUSED, Fault.UNEXPECTED])
def test_what_no_retry_can_mend_suspends_at_once(fault: Fault) -> None:
    """And names the transaction."""
    relay, decision = ready()
    assert decision == Send(5)
    assert relay.on(KafkaFailed(fault, "no")) == Suspend(5, fault, "no", False)


@pytest.mark.parametrize("progress", [None, 3])
def test_lost_evidence_is_not_guessed_at(progress: int | None) -> None:
    """Kafka knows less than was marked: the progress topic is not the one that was used."""
    _, decision = ready(progress=progress)
    assert isinstance(decision, Suspend)
    assert "4 transactions are marked as sent" in decision.reason


def test_a_database_older_than_the_topic_is_not_gone_on_with() -> None:
    """Kafka knows more than was recorded: a backup was restored."""
    _, decision = ready(progress=6)
    assert isinstance(decision, Suspend)
    assert "only 5 were ever recorded" in decision.reason


def test_several_are_sent_before_they_are_noted_together() -> None:
    """Those that one look has shown; then the database is told, and asked again."""
    relay, decision = ready(recorded=7)
    assert decision == Send(5)
    assert relay.on(Committed(5)) == Send(6)
    assert relay.on(Committed(6)) == Send(7)
    assert relay.on(Committed(7)) == MarkSent(7)
    assert relay.on(Marked()) == Look()


def test_what_arrived_before_a_failure_is_noted_first() -> None:
    """So that the failure is told of the right transaction, and of no other."""
    relay, _ = ready(recorded=7)
    assert relay.on(Committed(5)) == Send(6)
    assert relay.on(KafkaFailed(Fault.REFUSED, "no")) == MarkSent(5)
    assert relay.on(Marked()) == Suspend(6, Fault.REFUSED, "no", False)


def test_a_gap_is_not_passed_over() -> None:
    """A transaction that is missing in the database stops the producer."""
    relay, _ = ready(recorded=4)
    decision = relay.on(Looked(running=True, sent=4, recorded=6, next_ids=(6,)))
    assert isinstance(decision, Suspend)
    assert "transaction 5 is not in the database" in decision.reason
