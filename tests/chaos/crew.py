"""The writers and replicas of a run: their settings and their processes."""

from __future__ import annotations

from pathlib import Path

from chaos.children import Child
from chaos.cluster import Cluster
from chaos.faults import RestartedChild
from chaos.options import TOPIC, Options
from chaos.replicas import Watch, make

# The pause between two transactions of a writer: replicas that need a quiescent moment get one now and then.
_OFTEN_S, _RARELY_S = 0.03, 0.25


def writer_name(number: int) -> str:
    """Return the name of a writer as in its files' names."""
    return f"writer-{number}"


class ProcessFactory:
    """A factory of the writers and replicas of a run. Replicas are behind the proxies, writers are not."""

    def __init__(self, options: Options, folder: Path, cluster: Cluster) -> None:
        self._options, self._folder, self._cluster = options, folder, cluster

    def watch(self, name: str) -> Watch:
        """Return a replica in this process."""
        options = self._options
        replica = make(self._cluster.proxied_bootstrap, TOPIC, options.boundaries, naive=options.naive)
        return Watch(replica, self._folder, name, options.writers, options.seed, slow=not options.naive)

    def writer(self, number: int) -> RestartedChild:
        """Start a writer in a separate process; each restart continues the same history."""
        name, options = writer_name(number), self._options
        settings = {
            "bootstrap": self._cluster.bootstrap, "topic": TOPIC, "writer": number, "seed": options.seed,
            "path": str(self._folder / f"{name}.jsonl"),
            "pause_s": _RARELY_S if options.boundaries == "quiescence" else _OFTEN_S,
        }  # fmt: skip
        return RestartedChild(name, lambda _: Child("chaos.writers", settings, self._folder / f"{name}.log"))

    def replica(self, number: int) -> RestartedChild:
        """Start a replica in a separate process; each restart has its own files, and may use the store."""
        name, options = f"replica-{number}", self._options
        settings = {
            "bootstrap": self._cluster.proxied_bootstrap, "topic": TOPIC, "boundaries": options.boundaries,
            "naive": options.naive, "folder": str(self._folder), "writers": options.writers,
            "store": str(self._folder / f"{name}.store") if options.store == "rocksdb" else None,
        }  # fmt: skip

        def begin(life: int) -> Child:
            more = {"name": f"{name}.{life}", "seed": options.seed * 1000 + life}
            return Child("chaos.replicas", {**settings, **more}, self._folder / f"{name}.log")

        return RestartedChild(name, begin)
