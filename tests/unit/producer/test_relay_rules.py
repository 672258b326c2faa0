"""The relay's rules: whatever dies, stalls or fails at any step, Kafka holds 1, 2, 3, ... and nothing else.

A restored database has another history than Kafka: then no transaction is marked as sent that Kafka lacks.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from kafka_replica.broker.writing.faults import Fault
from kafka_replica.producer.changes.fingerprint import Fingerprint
from kafka_replica.producer.relay.events import (
    Acquire,
    CommitAcknowledgement,
    Connect,
    DatabaseState,
    Decision,
    Event,
    KafkaFailure,
    KafkaSessionStart,
    LeaseGrant,
    MarkSent,
    Pause,
    Query,
    RelayStart,
    Send,
    StoredOutcome,
    Suspend,
    Wait,
    WaitEnd,
)
from kafka_replica.producer.relay.rules import Relay
from support.effort import examples
from support.producer.relay_world import Instance, StepOutcome, World

Script = list[tuple[str, int, StepOutcome]]


ACTS = {"step": 30, "others are frozen": 1, "record": 2, "lease runs out": 1, "resume": 1}
_FROZEN_STEPS = (8, 12, 15, 25)  # the last is enough to take over, to connect and to send
FREEZES = {"step": 30, "others are frozen": 5, "record": 5}
RESTORES = {**ACTS, "back up": 0.5, "restore": 0.5}
BEGINS_AGAIN = {**ACTS, "suspend": 1, "begin again": 1}


def script_of(
    seed: int,
    length: int,
    instances: int,
    hardship: float,
    weights: Mapping[str, float] = ACTS,
    fates: Sequence[StepOutcome] = tuple(StepOutcome)[1:],
) -> Script:
    """Return a long random history: lists that Hypothesis draws element by element stay too short to get anywhere."""
    dice = random.Random(seed)

    def fate() -> StepOutcome:
        return dice.choice(fates) if dice.random() < hardship else StepOutcome.WELL

    acts = dice.choices([*weights], [*weights.values()], k=length)
    return [(act, dice.randrange(instances), fate()) for act in acts]


LENGTHS, INSTANCES, HARDSHIP = st.integers(0, 600), st.integers(1, 3), st.sampled_from([0.0, 0.02, 0.1, 0.3])
SCRIPTS = st.builds(script_of, st.integers(0, 1 << 32), LENGTHS, INSTANCES, HARDSHIP)
RESTORING_SCRIPTS = st.builds(script_of, st.integers(0, 1 << 32), LENGTHS, INSTANCES, HARDSHIP, st.just(RESTORES))
BEGINNING_SCRIPTS = st.builds(
    script_of, st.integers(0, 1 << 32), LENGTHS, INSTANCES, HARDSHIP, st.sampled_from([BEGINS_AGAIN])
)
SLOW_SCRIPTS, NO_MARKER_SCRIPTS = (
    st.builds(script_of, st.integers(0, 1 << 32), LENGTHS, st.just(2), st.just(0.5), st.just(FREEZES), st.just([fate]))
    for fate in (StepOutcome.SLOW, StepOutcome.NO_MARKER)
)


def resume(world: World) -> None:
    """Do what an operator does after reading why the producer suspended itself."""
    if world.running:
        return
    if world.contradicted:
        world.begin_incarnation()
    world.running, world.contradicted = True, False


def play(script: Script, relay: type[Relay] = Relay, instance: type[Instance] = Instance) -> World:
    """Run three instances with the order and failures of the script, then without failures for long enough."""
    world = World()
    luck, dice = [StepOutcome.WELL], random.Random(len(script))
    instances = [instance(world, name, lambda: luck[0], relay) for name in range(3)]

    def run_alone(who: int) -> None:
        luck[0], world.owner = StepOutcome.WELL, None  # the lease runs out
        for _ in range(dice.choice(_FROZEN_STEPS)):
            instances[who].step()

    acts: dict[str, Callable[[int], object]] = {
        "step": lambda who: instances[who].step(),
        "others are frozen": run_alone,
        "record": lambda _: world.record(),
        "resume": lambda _: resume(world),
        "back up": lambda _: world.back_up(),
        "restore": lambda who: world.restore(who + len(world.log)),
        "lease runs out": lambda _: setattr(world, "owner", None),
        "suspend": lambda _: setattr(world, "running", False),
        "begin again": lambda _: world.begin_again(),
    }
    for act, who, luck[0] in script:
        acts[act](who)
    luck[0] = StepOutcome.WELL
    world.record()
    for number in range(1500):
        resume(world)
        if number % 400 == 0:
            world.owner = None
        instances[number % 3].step()
    return world


@settings(max_examples=examples(500), deadline=None)
@given(SCRIPTS | SLOW_SCRIPTS | NO_MARKER_SCRIPTS)
@pytest.mark.thorough
def test_exactly_once_and_in_order_whatever_happens(script: Script) -> None:
    """Kafka always has all transactions once and in order; once failures end, all have arrived and are marked."""
    world = play(script)
    assert [tx_id for _, tx_id, _ in world.log] == [*range(1, world.recorded + 1)]
    assert world.sent == world.recorded


@settings(max_examples=examples(500), deadline=None)
@given(RESTORING_SCRIPTS)
@pytest.mark.thorough
def test_a_restored_database_loses_nothing(script: Script) -> None:
    """After a restore Kafka always has what is marked as sent, and in the end all that the database holds."""
    world = play(script)
    assert world.sent == world.recorded
    assert set(world.rows) <= {name for _, _, name in world.log}


@settings(max_examples=examples(500), deadline=None)
@given(BEGINNING_SCRIPTS)
@pytest.mark.thorough
def test_a_new_incarnation_without_need_repeats_nothing(script: Script) -> None:
    """An operator begins incarnations while instances are still sending: Kafka has all once and in order."""
    world = play(script)
    assert [tx_id for _, tx_id, _ in world.log] == [*range(1, world.recorded + 1)]
    assert world.sent == world.recorded


class ForgetsFormerIncarnations(Instance):
    """An instance that begins a new incarnation with what is not marked."""

    def _former_progress(self) -> None:
        return None


@pytest.mark.thorough
def test_an_instance_that_forgets_former_incarnations_is_found_out() -> None:
    """The check above fails: what had arrived, and was not marked, is sent again."""

    @settings(max_examples=examples(500), deadline=None, database=None, derandomize=True, phases=[Phase.generate])
    @given(BEGINNING_SCRIPTS)
    def look(script: Script) -> None:
        play(script, instance=ForgetsFormerIncarnations)

    with pytest.raises(BaseException, match="Kafka has") as found:
        look()
    assert not isinstance(found.value, KeyboardInterrupt)


class TrustsTheDatabase(Relay):
    """A relay that trusts the marks in the database and does not ask Kafka which transactions arrived."""

    def on(self, event: Event) -> Decision:
        """Process an event with one rule changed."""
        if isinstance(event, KafkaSessionStart) and self._database_state is not None:
            event = KafkaSessionStart(self._database_state.sent_tx_id)
        return super().on(event)


class TriesAgainAtOnce(Relay):
    """A relay that sends again on the same connection when no answer came."""

    def on(self, event: Event) -> Decision:
        """Process an event with one rule changed."""
        if isinstance(event, KafkaFailure) and event.may_have_arrived and self._sending is not None:
            return Send(self._sending)
        return super().on(event)


class TakesTheIdBack(Relay):
    """A relay that initializes the id again after a slow commit, without reading what has arrived meanwhile."""

    def on(self, event: Event) -> Decision:
        """Process an event with one rule changed."""
        if isinstance(event, CommitAcknowledgement):
            event = event._replace(is_last=False)
        return super().on(event)


class ComparesNumbersAlone(Relay):
    """A relay that does not compare the last transaction in Kafka with the database's of the same number."""

    def on(self, event: Event) -> Decision:
        """Process an event with one rule changed."""
        if isinstance(event, (KafkaSessionStart, CommitAcknowledgement)):
            event = event._replace(fingerprint=None)
        return super().on(event)


class MarksWithoutTheLease(Instance):
    """An instance that marks what Kafka has acknowledged, although another one has taken over."""

    def _may_mark(self) -> bool:
        return True


@pytest.mark.thorough
def test_marks_without_the_lease_are_found_out() -> None:
    """The check above fails: the other instance has ended the transaction as not marked, and has not sent it yet."""

    @settings(max_examples=examples(500), deadline=None, database=None, derandomize=True, phases=[Phase.generate])
    @given(NO_MARKER_SCRIPTS)
    def look(script: Script) -> None:
        play(script, instance=MarksWithoutTheLease)

    with pytest.raises(BaseException, match="marked as sent, and Kafka has not") as found:
        look()
    assert not isinstance(found.value, KeyboardInterrupt)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("wrong", "scripts"),
    [
        (TrustsTheDatabase, SCRIPTS),
        (TriesAgainAtOnce, SCRIPTS),
        (TakesTheIdBack, SLOW_SCRIPTS),
        (ComparesNumbersAlone, RESTORING_SCRIPTS),
    ],
)
def test_a_rule_that_is_left_out_is_missed(wrong: type[Relay], scripts: st.SearchStrategy[Script]) -> None:
    """The checks above fail when a rule is left out."""

    @settings(max_examples=examples(500), deadline=None, database=None, derandomize=True, phases=[Phase.generate])
    @given(scripts)
    def look(script: Script) -> None:
        play(script, wrong)

    with pytest.raises(BaseException, match="Kafka has") as found:
        look()
    assert not isinstance(found.value, KeyboardInterrupt)


def ready(retries: int = 3, *, sent: int = 4, recorded: int = 5, progress: int | None = 4) -> tuple[Relay, Decision]:
    """Return a relay that has connected and looked, and its decision."""
    relay = Relay(retries)
    seen = DatabaseState(
        running=True, sent_tx_id=sent, last_tx_id=recorded, next_ids=tuple(range(sent + 1, recorded + 1))
    )
    assert relay.on(RelayStart()) == Acquire()
    relay.on(LeaseGrant())
    assert relay.on(seen) == Connect()
    assert relay.on(KafkaSessionStart(progress)) == Acquire(), "the lease may be lost by now"
    relay.on(LeaseGrant())
    return relay, relay.on(seen)


SEEN = DatabaseState(running=True, sent_tx_id=4, last_tx_id=5, next_ids=(5,))


def reconnected(relay: Relay) -> Decision:
    """Return the decision of a relay that has waited, connected and looked again."""
    event: Event
    for event in (WaitEnd(), LeaseGrant()):
        relay.on(event)
    assert relay.on(SEEN) == Connect()
    for event in (KafkaSessionStart(4), LeaseGrant()):
        relay.on(event)
    return relay.on(SEEN)


def test_an_outage_never_suspends_the_producer() -> None:
    """An outage is waited for however long it lasts, with new connections; the producer never suspends itself."""
    relay, decision = ready()
    for attempt in range(1, 2000):
        assert decision == Send(5)
        assert relay.on(KafkaFailure(Fault.TRANSITORY, "down", attempt % 2 == 1)) == Wait(Pause.RETRY, attempt)
        assert not relay.connected
        decision = reconnected(relay)
    assert relay.on(CommitAcknowledgement(5)) == MarkSent(5)
    relay.on(StoredOutcome())
    assert relay.on(DatabaseState(True, 5, 6, (6,))) == Send(6)
    assert relay.on(KafkaFailure(Fault.TRANSITORY, "down")) == Wait(Pause.RETRY, 1), "it counts anew"


@pytest.mark.parametrize("fault", [Fault.FENCED, Fault.MISSING, Fault.UNEXPECTED, Fault.AUTHENTICATION])
def test_a_likely_temporary_fault_is_retried_three_times_then_suspends(fault: Fault) -> None:
    """A fault that usually passes is retried three times, then the producer suspends; outages do not count."""
    relay, decision = ready()
    for attempt in (1, 3, 5):
        assert decision == Send(5)
        assert relay.on(KafkaFailure(fault, "no")) == Wait(Pause.RETRY, attempt)
        reconnected(relay)
        assert relay.on(KafkaFailure(Fault.TRANSITORY, "down")) == Wait(Pause.RETRY, attempt + 1)
        decision = reconnected(relay)
    assert relay.on(KafkaFailure(fault, "no")) == Suspend(5, fault, "no", False)
    relay.on(WaitEnd())
    assert relay.on(SEEN._replace(running=False)) == Wait(Pause.WORK)


def test_credentials_that_were_never_accepted_suspend_at_once() -> None:
    """Credentials that were never accepted suspend the producer at once: retrying cannot help."""
    relay = Relay()
    for event in (RelayStart(), LeaseGrant(), SEEN):
        relay.on(event)
    assert relay.on(KafkaFailure(Fault.AUTHENTICATION, "no")) == Suspend(5, Fault.AUTHENTICATION, "no", False)


def test_a_commit_without_an_answer_is_in_doubt_until_kafka_is_queried() -> None:
    """A commit without an answer stays in doubt until Kafka is queried, even if Kafka is unreachable afterwards."""
    event: Event
    relay = Relay()
    for event in (RelayStart(), LeaseGrant(), DatabaseState(True, 4, 5, (5,)), KafkaSessionStart(4), LeaseGrant()):
        relay.on(event)
    assert relay.on(DatabaseState(True, 4, 5, (5,))) == Send(5)
    assert relay.on(KafkaFailure(Fault.TRANSITORY, "no answer", True)) == Wait(Pause.RETRY, 1)
    for event in (WaitEnd(), LeaseGrant()):
        relay.on(event)
    assert relay.on(DatabaseState(True, 4, 5, (5,))) == Connect()
    assert relay.on(KafkaFailure(Fault.TRANSITORY, "down")) == Wait(Pause.RETRY, 2)
    for event in (WaitEnd(), LeaseGrant()):
        relay.on(event)
    assert relay.on(DatabaseState(True, 4, 5, (5,))) == Connect()
    decision = relay.on(KafkaFailure(Fault.REFUSED, "no right"))
    assert isinstance(decision, Suspend)
    assert (decision.tx_id, decision.may_have_arrived) == (5, True)
    assert "whether transaction 5 has arrived" in decision.reason
    for event in (
        WaitEnd(),
        LeaseGrant(),
        DatabaseState(True, 4, 5, (5,)),
        KafkaSessionStart(4),
        LeaseGrant(),
        DatabaseState(True, 4, 5, (5,)),
    ):
        relay.on(event)
    assert relay.on(KafkaFailure(Fault.REFUSED, "no")) == Suspend(5, Fault.REFUSED, "no", False), "it was asked"


@pytest.mark.parametrize("fault", [Fault.LOCAL, Fault.REFUSED])
def test_a_permanent_fault_suspends_at_once(fault: Fault) -> None:
    """A fault that no retry can repair suspends the producer at once, and names the transaction."""
    relay, decision = ready()
    assert decision == Send(5)
    assert relay.on(KafkaFailure(fault, "no")) == Suspend(5, fault, "no", False)


@pytest.mark.parametrize("progress", [None, 3])
def test_lost_evidence_is_not_guessed_at(progress: int | None) -> None:
    """If Kafka has fewer transactions than are marked, the producer suspends: the progress topic is another one."""
    _, decision = ready(progress=progress)
    assert isinstance(decision, Suspend)
    assert "4 transactions are marked as sent" in decision.reason


def test_a_database_older_than_the_topic_suspends_the_producer() -> None:
    """If Kafka has more transactions than were recorded, the producer suspends: a backup was restored."""
    _, decision = ready(progress=6)
    assert isinstance(decision, Suspend)
    assert "only 5 were ever recorded" in decision.reason
    assert "flush --new-incarnation" in decision.reason


SENT = Fingerprint(1_000, "sent")


@pytest.mark.parametrize(
    ("of_kafka", "of_database", "is_another"),
    [
        (SENT, SENT, False),
        (SENT, Fingerprint(1_001, "sent"), True),
        (SENT, Fingerprint(1_000, "other"), True),
        (SENT, None, True),  # not in the database
        (Fingerprint(1_000), SENT, False),  # an older progress record
        (Fingerprint(1_001), SENT, True),
        (Fingerprint(None), SENT, False),
    ],
)
@pytest.mark.parametrize("sent", [3, 4])
def test_another_transaction_of_the_same_number_has_not_arrived(
    of_kafka: Fingerprint, of_database: Fingerprint | None, is_another: bool, sent: int
) -> None:
    """Another transaction of the same number suspends the producer with advice, and is not marked.

    A transaction that is marked as sent may have been cleaned up since.
    """
    seen = DatabaseState(True, sent, 9, tuple(range(sent + 1, 8)))
    relay = Relay()
    for event in (RelayStart(), LeaseGrant(), seen, KafkaSessionStart(4, of_kafka), LeaseGrant()):
        relay.on(event)
    decision = relay.on(seen._replace(of_arrived=of_database))
    if is_another and not (sent == 4 and of_database is None):
        assert isinstance(decision, Suspend)
        assert decision.tx_id is None
        assert "transaction 4 has arrived" in decision.reason
        assert "flush --new-incarnation" in decision.reason
    else:
        assert decision == (MarkSent(4, of_kafka) if sent == 3 else Send(5))


def test_a_new_incarnation_begins_with_the_first_unsent_transaction() -> None:
    """A new incarnation begins with the first unsent transaction, on a new connection.

    Kafka has no progress record of the new incarnation yet.
    """
    relay, decision = ready()
    assert decision == Send(5)
    relay.on(CommitAcknowledgement(5))
    relay.on(StoredOutcome())
    seen = DatabaseState(True, 5, 7, (6, 7), "new", is_new=True)
    assert relay.on(seen) == Connect(), "the connection was of the former incarnation"
    for event in (KafkaSessionStart(None), LeaseGrant()):
        relay.on(event)
    assert relay.on(seen) == Send(6)


def test_a_database_that_is_replaced_while_the_producer_runs() -> None:
    """A database that is replaced while the producer runs is found: the last sent transaction is compared, too."""
    relay, _ = ready(recorded=6)
    relay.on(CommitAcknowledgement(5, SENT))
    assert relay.on(CommitAcknowledgement(6, SENT)) == MarkSent(6, SENT)
    assert relay.on(StoredOutcome()) == Query()
    decision = relay.on(DatabaseState(True, 2, 8, (3, 4), of_arrived=Fingerprint(2_000, "another")))
    assert isinstance(decision, Suspend)


def test_amended_transactions_lead_to_a_new_connection() -> None:
    """The producer may have been suspended, and resumed, between two queries; amendments are applied on connecting."""
    relay, decision = ready(recorded=6)
    assert decision == Send(5)
    assert relay.on(CommitAcknowledgement(5)) == Send(6)
    assert relay.on(CommitAcknowledgement(6)) == MarkSent(6)
    assert relay.on(StoredOutcome()) == Query()
    state = DatabaseState(running=True, sent_tx_id=6, last_tx_id=7, next_ids=(7,), is_amended=True)
    assert relay.on(state) == Connect()
    for event in (KafkaSessionStart(6), LeaseGrant()):
        relay.on(event)
    assert relay.on(state._replace(is_amended=False)) == Send(7)


def test_several_are_sent_before_they_are_noted_together() -> None:
    """All transactions found by one query are sent, then marked together; then the database is queried again."""
    relay, decision = ready(recorded=7)
    assert decision == Send(5)
    assert relay.on(CommitAcknowledgement(5)) == Send(6)
    assert relay.on(CommitAcknowledgement(6)) == Send(7)
    assert relay.on(CommitAcknowledgement(7)) == MarkSent(7)
    assert relay.on(StoredOutcome()) == Query()


def test_after_a_slow_commit_the_id_is_initialized_and_the_log_read_again() -> None:
    """Sent transactions are marked, and the others wait for a new connection."""
    relay, _ = ready(recorded=7)
    assert relay.on(CommitAcknowledgement(5, SENT, is_last=True)) == MarkSent(5, SENT)
    assert not relay.connected
    assert relay.on(StoredOutcome()) == Acquire(), "only the owner of the lease may fence others"
    assert relay.on(LeaseGrant()) == Query()
    assert relay.on(DatabaseState(True, 5, 7, (6, 7))) == Connect()


def test_arrived_transactions_are_marked_before_a_failure_is_named() -> None:
    """Transactions that arrived before a failure are marked first, so the failure names the right transaction."""
    relay, _ = ready(recorded=7)
    assert relay.on(CommitAcknowledgement(5)) == Send(6)
    assert relay.on(KafkaFailure(Fault.REFUSED, "no")) == MarkSent(5)
    assert relay.on(StoredOutcome()) == Suspend(6, Fault.REFUSED, "no", False)


def test_a_gap_is_not_passed_over() -> None:
    """A transaction that is missing in the database stops the producer."""
    relay, _ = ready(recorded=4)
    decision = relay.on(DatabaseState(running=True, sent_tx_id=4, last_tx_id=6, next_ids=(6,)))
    assert isinstance(decision, Suspend)
    assert "transaction 5 is not in the database" in decision.reason
