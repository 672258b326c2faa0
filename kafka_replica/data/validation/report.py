"""The report on a validated or mapped data set, with counts and samples, as text and as picture. Engines create it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from kafka_replica.common.html_tables import html_table
from kafka_replica.common.wording import counted, reason_of
from kafka_replica.data.validation.catalogue import SEVERITIES
from kafka_replica.data.validation.locations import Location
from kafka_replica.data.validation.model import Finding
from kafka_replica.errors import MissingExtraError, UsageError
from kafka_replica.sdmx import Urn


class Sample(NamedTuple):
    """A finding, the series of its row, and the location of the row if it is known."""

    series: str | None
    finding: Finding
    location: Location = Location()


@dataclass(frozen=True)
class Report:
    """The report on a validated or mapped data set.

    Attributes:
        artefact: the artefact that the data was validated against, or the map that was applied to it.
        version: the version that the artefact was taken from.
        rows: the number of rows.
        bad_rows: the number of rows with a finding of any severity.
        counts: findings by rule, component and severity.
        by_series: findings by series, those with the most findings first; only the worst series.
        samples: some findings of each rule and component.
        dataset: findings about the data set as a whole.
        unchecked: the requirements that could not be checked.
    """

    artefact: Urn
    version: int
    rows: int
    bad_rows: int
    counts: Mapping[tuple[str, str | None, str], int]
    by_series: Mapping[str, int]
    samples: tuple[Sample, ...]
    dataset: tuple[Finding, ...]
    unchecked: tuple[str, ...]

    @property
    def is_valid(self) -> bool:
        """Return whether there are no findings of severity ``error``."""
        severe = any(severity == SEVERITIES[0] for _, _, severity in self.counts)
        return not severe and all(one.severity != SEVERITIES[0] for one in self.dataset)

    @property
    def by_rule(self) -> dict[str, int]:
        """Return the number of findings by rule, the most frequent first."""
        return self._summed(0)

    @property
    def by_component(self) -> dict[str, int]:
        """Return the number of findings by component, the most frequent first, without those of no single component."""
        return self._summed(1)

    def _summed(self, place: int) -> dict[str, int]:
        total: Counter[str] = Counter()
        for key, count in self.counts.items():
            name = key[place]
            if name is not None:
                total[name] += count
        return dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))

    def as_json(self) -> dict[str, Any]:
        """Return the report as values that JSON can represent."""
        counts = [
            {"rule": rule, "component": component, "severity": severity, "count": count}
            for (rule, component, severity), count in self.counts.items()
        ]
        return {
            "artefact": str(self.artefact),
            "version": self.version,
            "rows": self.rows,
            "bad_rows": self.bad_rows,
            "is_valid": self.is_valid,
            "counts": counts,
            "by_series": dict(self.by_series),
            "samples": [
                {"series": sample.series, **sample.location._asdict(), **sample.finding._asdict()}
                for sample in self.samples
            ],
            "dataset": [one._asdict() for one in self.dataset],
            "unchecked": list(self.unchecked),
        }

    @property
    def _summary(self) -> str:
        return f"{counted(self.rows, 'row')}, {self.bad_rows:,} with findings"

    def __repr__(self) -> str:
        verdict = "valid" if self.is_valid else "not valid"
        return f"<Report of {self.artefact.reference} in version {self.version}: {self._summary}, {verdict}>"

    def _repr_html_(self) -> str:
        counts = sorted(self.counts.items(), key=lambda item: (-item[1], item[0][0]))
        rows: list[tuple[object, ...]] = [(one.severity, one.rule, one.component, "data set") for one in self.dataset]
        rows += [(severity, rule, component, f"{count:,}") for (rule, component, severity), count in counts]
        return html_table(repr(self)[1:-1], ("severity", "rule", "component", "findings"), rows, len(rows))

    def __str__(self) -> str:
        lines = [f"{self.artefact.reference} in version {self.version}: {self._summary}"]
        lines += [f"  data set: {one.severity} {one.rule}: {one.message}" for one in self.dataset]
        lines += [
            f"  {count:>9} {severity} {rule}{f' of {component}' if component else ''}"
            for (rule, component, severity), count in sorted(self.counts.items(), key=lambda item: -item[1])
        ]
        lines += [f"  not checked: {what}" for what in self.unchecked]
        return "\n".join(lines)

    def picture(self, path: Path | str) -> None:
        """Draw findings by rule and by component into a file; its suffix selects the format (.png, .svg, .pdf).

        Raises:
            MissingExtraError: matplotlib is not installed.
            UsageError: the file cannot be written, or not in this format.
        """
        try:
            from matplotlib.figure import Figure  # noqa: PLC0415 - only for pictures
            from matplotlib.ticker import MaxNLocator  # noqa: PLC0415
        except ImportError as error:
            raise MissingExtraError("drawing a report", "plots") from error
        every = {"by rule": self.by_rule, "by component": self.by_component, "by series, most first": self.by_series}
        parts = [(title, counts) for title, counts in every.items() if counts] or [("by rule", {})]
        figure = Figure(
            figsize=(9, 2.5 + 0.22 * sum(min(len(counts), 15) for _, counts in parts)), layout="constrained"
        )
        heights = [max(1, min(len(counts), 15)) for _, counts in parts]
        axes = figure.subplots(len(parts), 1, height_ratios=heights, squeeze=False)
        for axis, (title, counts) in zip(axes[:, 0], parts, strict=True):
            worst = dict(list(counts.items())[:15])
            names = list(worst)[::-1]
            axis.barh(range(len(names)), [worst[name] for name in names], color="#3b6ea5")
            axis.set_yticks(range(len(names)), names, fontsize=8)
            axis.xaxis.set_major_locator(MaxNLocator(integer=True))
            axis.set_title(f"findings {title}", fontsize=9, loc="left")
            axis.spines[["top", "right"]].set_visible(False)
        figure.suptitle(f"{self.artefact.reference}: {self._summary}", fontsize=11)
        try:
            figure.savefig(path)
        except (OSError, ValueError) as error:
            raise UsageError(
                f"drawing the report of {self.artefact.reference} into {path}: {reason_of(error)}"
            ) from error
