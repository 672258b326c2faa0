"""The names of the lists in JSON messages, each of which holds the artefacts of one class."""

from __future__ import annotations

from typing import Final

from kafka_replica.sdmx.urns.classes import CLASSES


def _plural(name: str) -> str:
    if name.endswith("y"):
        return name[:-1] + "ies"
    return name + ("es" if name.endswith("s") else "s")


def collection_of(class_: str) -> str:
    """Return the name of the list of a class in SDMX-JSON: Codelist -> codelists."""
    plural = _plural(class_)
    return plural[0].lower() + plural[1:]


CLASS_OF_COLLECTION: Final = {_plural(name).lower(): name for name, info in CLASSES.items() if info.is_maintainable}
"""The class of the artefacts in a list of SDMX-JSON, by the name of the list in lower case."""

FUSION_SETS: Final = "metadatasets"
"""The list of metadata sets in Fusion-JSON, the only list that is in an object "data"."""

WITHOUT_URN: Final = "availabilityConstraints"
"""The list of SDMX-JSON 2.1 whose members have no id and so are not artefacts."""
