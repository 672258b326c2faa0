"""Who writes and who watches in a run: with which settings, in which process."""

from __future__ import annotations

from pathlib import Path

from chaos.children import Child
from chaos.cluster import Cluster
from chaos.faults import Lives
from chaos.options import TOPIC, Options
from chaos.replicas import Watch, make

# Between two transactions of a writer: replicas that need a moment at which nobody writes get one now and then.
_OFTEN_S, _RARELY_S = 0.03, 0.25


def writer_name(number: int) -> str:
    """A writer, as its files are named."""
    return f"writer-{number}"


class Crew:
    """Makes writers and replicas for a run. Replicas are behind the proxies, writers are not."""

    def __init__(self, options: Options, folder: Path, cluster: Cluster) -> None:
        self._options, self._folder, self._cluster = options, folder, cluster

    def watch(self, name: str) -> Watch:
        """A replica in this process."""
        options = self._options
        replica = make(self._cluster.proxied_bootstrap, TOPIC, options.boundaries, naive=options.naive)
        return Watch(replica, self._folder, name, options.writers, options.seed, slow=not options.naive)

    def writer(self, number: int) -> Lives:
        """A writer in a process of its own; each life goes on in the same history."""
        name, options = writer_name(number), self._options
        settings = {
            "bootstrap": self._cluster.bootstrap, "topic": TOPIC, "writer": number, "seed": options.seed,
            "path": str(self._folder / f"{name}.jsonl"),
            "pause_s": _RARELY_S if options.boundaries == "quiescence" else _OFTEN_S,
        }  # fmt: skip
        return Lives(name, lambda _: Child("chaos.writers", settings, self._folder / f"{name}.log"))

    def replica(self, number: int) -> Lives:
        """A replica in a process of its own; each life has files of its own, and starts anew or from its store."""
        name, options = f"replica-{number}", self._options
        settings = {
            "bootstrap": self._cluster.proxied_bootstrap, "topic": TOPIC, "boundaries": options.boundaries,
            "naive": options.naive, "folder": str(self._folder), "writers": options.writers,
            "store": str(self._folder / f"{name}.store") if options.store == "rocksdb" else None,
        }  # fmt: skip

        def begin(life: int) -> Child:
            more = {"name": f"{name}.{life}", "seed": options.seed * 1000 + life}
            return Child("chaos.replicas", {**settings, **more}, self._folder / f"{name}.log")

        return Lives(name, begin)
