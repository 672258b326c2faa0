"""Faults, their times and durations: drawn from a seed, one fault per target at a time."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from chaos.children import Child
from chaos.cluster import Cluster
from chaos.proxy import Network, Proxy
from kafka_replica.embedded import LocalKafka


@dataclass(frozen=True)
class Fault:
    """A fault of a target.

    Attributes:
        kind: its name in the table.
        weight: how often it is drawn, relative to the other faults of its target.
        lasts_s: its shortest and its longest duration.
        begin: breaks the target.
        end: repairs the target.
    """

    kind: str
    weight: float
    lasts_s: tuple[float, float]
    begin: Callable[[], object]
    end: Callable[[], object]


@dataclass
class Target:
    """A target of faults; never with two faults at a time, nor while another target of its ``group`` has one.

    The target is left alone for ``rest_s`` after a fault, because a system that is always down shows nothing; ``share``
    says how often it is drawn, relative to the other targets.
    """

    name: str
    faults: Sequence[Fault]
    share: float
    rest_s: float
    group: threading.Lock = field(default_factory=threading.Lock)


class FaultInjector:
    """The source of faults, which draws and applies them until stopped; then every target is repaired.

    Attributes:
        survived: faults by kind, counted when they are repaired.
        struck: called with a line for each fault as it begins.
    """

    def __init__(self, targets: Sequence[Target], seed: int, struck: Callable[[str], None]) -> None:
        self.survived: Counter[str] = Counter()
        self._targets, self._struck = targets, struck
        self._dice = random.Random(f"faults {seed}")
        self._stopping = threading.Event()
        self._errors: list[BaseException] = []
        self._strikes: list[threading.Thread] = []
        self._thread = threading.Thread(target=self._run, name="fault-injector", daemon=True)

    def start(self) -> None:
        """Begin to draw faults."""
        self._thread.start()

    def stop(self) -> None:
        """End, when all current faults are repaired.

        Raises:
            BaseException: the error of a fault, such as a broker that did not come up again.
        """
        self._stopping.set()
        for thread in (self._thread, *self._strikes):
            if thread.ident is not None:
                thread.join()
        if self._errors:
            raise self._errors[0]

    @property
    def error(self) -> BaseException | None:
        """The error of the harness itself, or None."""
        return self._errors[0] if self._errors else None

    def _run(self) -> None:
        shares = [target.share for target in self._targets]
        while not self._stopping.wait(self._dice.uniform(0.1, 1.2)):
            target = self._dice.choices(self._targets, shares)[0]
            fault = self._dice.choices(target.faults, [fault.weight for fault in target.faults])[0]
            lasts_s = self._dice.uniform(*fault.lasts_s)
            if not target.group.acquire(blocking=False):
                continue
            self._strikes = [thread for thread in self._strikes if thread.is_alive()]
            strike = threading.Thread(target=self._strike, args=(target, fault, lasts_s), name=fault.kind, daemon=True)
            self._strikes.append(strike)
            strike.start()

    def _strike(self, target: Target, fault: Fault, lasts_s: float) -> None:
        try:
            self._struck(f"{fault.kind} ({target.name}, {lasts_s:.1f} s)")
            fault.begin()
            self._stopping.wait(lasts_s)
            fault.end()
            self.survived[fault.kind] += 1
            self._stopping.wait(target.rest_s)
        except BaseException as error:  # noqa: BLE001 - told by stop()
            self._errors.append(error)
        finally:
            target.group.release()


def broker_targets(cluster: Cluster) -> list[Target]:
    """Return the faults of the brokers, one at a time: losing two of three would only be a longer pause."""
    one_at_a_time = threading.Lock()
    return [
        Target(f"broker {number}", _broker_faults(broker), 1 / len(cluster.brokers), 6.0, one_at_a_time)
        for number, broker in enumerate(cluster.brokers, 1)
    ]


def _broker_faults(broker: LocalKafka) -> list[Fault]:
    return [
        Fault("broker kill -9", 1, (0.0, 2.0), broker.kill, broker.start),
        Fault("broker frozen", 1, (0.2, 5.0), broker.pause, broker.resume),
    ]


def network_targets(network: Network, proxies: int) -> list[Target]:
    """Return the faults of the network between replicas and one broker."""

    def fault(kind: str, verb: Callable[[Proxy], None], number: int, longest_s: float) -> Fault:
        return Fault(
            kind, 1, (0.1, longest_s), lambda: network.tell(number, verb), lambda: network.tell(number, Proxy.heal)
        )

    return [
        Target(
            f"proxy {number + 1}",
            [
                fault("network cut", Proxy.cut, number, 3.0),
                fault("network stalled", Proxy.stall, number, 6.0),
                fault("network slow", Proxy.slow, number, 5.0),
                fault("connections dropped", Proxy.drop, number, 0.2),
            ],
            share=1 / proxies,
            rest_s=1.0,
        )
        for number in range(proxies)
    ]


class RestartedChild:
    """A child process that is started again when it was killed; each incarnation has a number."""

    def __init__(self, name: str, begin: Callable[[int], Child]) -> None:
        self.name, self._begin = name, begin
        self.life = 1
        self.child = begin(1)

    def kill(self) -> None:
        """End the process by kill -9."""
        self.child.kill()

    def begin_anew(self) -> None:
        """Start the next incarnation."""
        self.life += 1
        self.child = self._begin(self.life)


class FreezeSettings(NamedTuple):
    """The weight of freezing a child, relative to a kill, and the duration (from, to; in seconds)."""

    weight: float
    lasts_s: tuple[float, float]


def child_target(
    lives: RestartedChild,
    kind: str,
    share: float,
    shortly: FreezeSettings,
    too_long: FreezeSettings,
    *,
    rest_s: float = 2.0,
) -> Target:
    """Return the faults of a child: a kill with a restart, or a freeze, short or long enough for a timeout."""

    def pause() -> None:
        lives.child.pause()

    def resume() -> None:
        lives.child.resume()

    return Target(
        lives.name,
        [
            Fault(f"{kind} kill -9", 1.0, (0.0, 2.0), lives.kill, lives.begin_anew),
            Fault(f"{kind} frozen", shortly.weight, shortly.lasts_s, pause, resume),
            Fault(f"{kind} frozen too long", too_long.weight, too_long.lasts_s, pause, resume),
        ],
        share=share,
        rest_s=rest_s,
    )
