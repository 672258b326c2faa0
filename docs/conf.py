"""Configuration of the documentation site (``make docs``).

The pages are docs/*.md, in the order of index.md. The API reference is generated from docstrings: a page for each
package of tests/unit/core/public_names.txt, with every name that the package exports. A name without its entry, a
page outside the table of contents and a broken reference are warnings, and `make docs` fails on warnings.
"""

from __future__ import annotations

import inspect
import shutil
import sys
from importlib import import_module
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

from pygments.lexers.special import TextLexer
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.logging import getLogger

from kafka_replica import __version__ as release

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

from support.docs.public_names import public_names

project = "kafka_replica"
copyright = "the authors of kafka_replica; Apache License 2.0"  # noqa: A001 - Sphinx's name
version = release
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "index"
html_theme = "furo"  # light and dark, by the reader's system
html_title = f"kafka_replica {release}"
html_show_sphinx = False
html_copy_source = False
myst_enable_extensions = ["attrs_inline"]
myst_heading_anchors = 4  # pages link to headings, as they do on code hosts
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autoclass_content = "both"
napoleon_use_ivar = True  # attributes of a section "Attributes" are fields, and are described once
suppress_warnings = [
    "misc.highlighting_failure",  # excerpts of output that only look like JSON
    "ref.python",  # the short name of an annotation that several packages export
]


def directive(value: object) -> str:
    """Return the directive that documents a class or routine, with its options; empty for other values."""
    if inspect.isclass(value):
        kind = "autoexception" if issubclass(value, BaseException) else "autoclass"
        bases = [] if value.__bases__ == (object,) else ["show-inheritance:"]
        options = ["members:", "undoc-members:", *bases, *inherited(value)]
        return f".. {kind}:: {{name}}\n" + "".join(f"   :{option}\n" for option in options)
    if inspect.isroutine(value):
        return ".. autofunction:: {name}\n"
    return ""


def inherited(kind: type) -> list[str]:
    """Return the option that documents the members of the bases of ours that no package exports, if there are any."""
    public = {id(getattr(import_module(package), name)) for package, names in public_names().items() for name in names}
    elsewhere = [
        base for base in kind.__mro__[1:] if id(base) in public or not base.__module__.startswith("kafka_replica")
    ]
    if len(elsewhere) == len(kind.__mro__) - 1:
        return []
    return [f"inherited-members: {', '.join(base.__name__ for base in elsewhere)}"]


def description(package: str, name: str, value: object) -> str:
    """Return the docstring that follows a constant or alias where it is defined."""
    for path, module in sorted(sys.modules.items()):
        if path.split(".", 1)[0] in {"kafka_replica", "kafka_replica_spark"} and vars(module).get(name) is value:
            found = ModuleAnalyzer.for_module(path).find_attr_docs().get(("", name))
            if found:
                return "\n".join(found)
    getLogger(__name__).warning("%s.%s has no docstring", package, name)
    return ""


def entries(package: str, names: list[str], seen: dict[int, str]) -> Iterator[str]:
    """Yield the entry of each name; a class that another package exports too is described there, and linked."""
    module = import_module(package)
    for name in names:
        value, full = getattr(module, name), f"{package}.{name}"
        first = seen.setdefault(id(value), full) if inspect.isclass(value) else full
        if first != full:
            yield f".. class:: {name}\n\n   The same as :class:`{first}`.\n"
        elif entry := directive(value):
            yield entry.format(name=full)
        else:
            yield f".. data:: {name}\n\n{indent(description(package, name, value), '   ')}\n"


def write_api_pages(app: Sphinx) -> None:
    """Write docs/api/PACKAGE.rst for each public package; a page whose content is the same keeps its time."""
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    pages = {"index.rst": "API\n===\n\n.. toctree::\n\n" + "".join(f"   {name}\n" for name in public_names())}
    seen: dict[int, str] = {}
    for package, names in public_names().items():
        parts = [f"{package}\n{'=' * len(package)}\n\n.. automodule:: {package}\n   :no-members:\n"]
        pages[f"{package}.rst"] = "\n".join([*parts, *entries(package, names, seen)])
    for old in folder.iterdir():
        if old.name not in pages:
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    for name, text in pages.items():
        page = folder / name
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def check_names(_app: Sphinx, env: BuildEnvironment) -> None:
    """Warn of each public name that has no entry in the API reference."""
    documented = env.domains["py"].objects  # type: ignore[attr-defined]
    for package, names in public_names().items():
        for name in names:
            if f"{package}.{name}" not in documented:
                getLogger(__name__).warning("the API reference lacks %s.%s", package, name)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the steps above to the build."""
    app.add_lexer("mermaid", TextLexer)  # drawing would need a script from the web; the text can be read too
    app.connect("builder-inited", write_api_pages)
    app.connect("env-check-consistency", check_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
