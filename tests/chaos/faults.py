"""What breaks, when, and for how long: drawn from a seed, one fault a target at a time."""

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
    """One way to break a target.

    Attributes:
        kind: its name in the table.
        weight: how often it is drawn, against the other faults of its target.
        lasts_s: its shortest and its longest duration.
        begin: breaks the target.
        end: mends it.
    """

    kind: str
    weight: float
    lasts_s: tuple[float, float]
    begin: Callable[[], object]
    end: Callable[[], object]


@dataclass
class Target:
    """Something that can be broken; not twice at a time, nor while another target of its ``group`` is.

    It is left alone for ``rest_s`` afterwards, for a system that is always down shows nothing; ``share`` says how
    often it is drawn, against the other targets.
    """

    name: str
    faults: Sequence[Fault]
    share: float
    rest_s: float
    group: threading.Lock = field(default_factory=threading.Lock)


class Tormentor:
    """Draws faults and strikes until stopped; then everything is mended.

    Attributes:
        survived: faults by kind, counted when they are mended.
        struck: called with a line for each fault as it begins.
    """

    def __init__(self, targets: Sequence[Target], seed: int, struck: Callable[[str], None]) -> None:
        self.survived: Counter[str] = Counter()
        self._targets, self._struck = targets, struck
        self._dice = random.Random(f"faults {seed}")
        self._stopping = threading.Event()
        self._errors: list[BaseException] = []
        self._strikes: list[threading.Thread] = []
        self._thread = threading.Thread(target=self._run, name="tormentor", daemon=True)

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def stop(self) -> None:
        """Ends, when all faults under way are mended.

        Raises:
            BaseException: whatever a fault raised: a broker that did not come up again, say.
        """
        self._stopping.set()
        for thread in (self._thread, *self._strikes):
            if thread.ident is not None:
                thread.join()
        if self._errors:
            raise self._errors[0]

    @property
    def error(self) -> BaseException | None:
        """What went wrong with the harness itself, if anything."""
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
    """Brokers die and freeze, one at a time: two of three would only be a longer pause."""
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
    """The way between replicas and one broker breaks."""

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


class Lives:
    """A child that is begun anew when it was killed; each life has a number."""

    def __init__(self, name: str, begin: Callable[[int], Child]) -> None:
        self.name, self._begin = name, begin
        self.life = 1
        self.child = begin(1)

    def kill(self) -> None:
        """Ends it by kill -9."""
        self.child.kill()

    def begin_anew(self) -> None:
        """The next life."""
        self.life += 1
        self.child = self._begin(self.life)


class Freezing(NamedTuple):
    """How often, beside a kill, and for how long (from, to; in seconds) a child freezes."""

    weight: float
    lasts_s: tuple[float, float]


def child_target(
    lives: Lives, kind: str, share: float, shortly: Freezing, too_long: Freezing, *, rest_s: float = 2.0
) -> Target:
    """A child dies and comes back, or freezes: shortly, or for so long that somebody gives it up."""

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
