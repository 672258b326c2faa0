"""The tables of docs/configuration.md, from the declarations in the code.

``PYTHONPATH=tests python -m support.docs.configuration_page`` writes them into the page.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, fields
from typing import Any, Final

import click

from kafka_replica import Replica
from kafka_replica.cli.groups import kafka_replica
from kafka_replica.cli.help import VARIABLES
from kafka_replica.cli.serve_options import ServedReplica
from kafka_replica.producer import ProducerSettings
from kafka_replica.producer.notices.mail import MailSettings
from kafka_replica.producer.postgres import TableSourceSettings
from kafka_replica.producer.sources.folder import FolderSettings
from kafka_replica.producer.sources.rest import ServiceSettings
from kafka_replica.server import ListenSettings, ServerSettings
from support.paths import ROOT

PAGE: Final = ROOT / "docs" / "configuration.md"
CLASSES: Final = (
    ServerSettings, ListenSettings, ServedReplica, ProducerSettings, FolderSettings, ServiceSettings, MailSettings,
    TableSourceSettings,
)  # fmt: skip
_OF_SERVE: Final = (ServerSettings, ListenSettings, ServedReplica)


def with_tables(page: str) -> str:
    """Return the page with each table as the code declares it; a table stands between comments with its name."""

    def table(found: re.Match[str]) -> str:
        return f"{found[1]}{tables()[found[2]]}{found[3]}"

    return re.sub(r"(<!-- (\w+) -->\n).*?(<!-- /\2 -->\n)", table, page, flags=re.DOTALL)


def tables() -> dict[str, str]:
    """Return all tables by their names."""
    made = {kind.__name__: settings_table(kind) for kind in CLASSES}
    rows = ((f"`{name}`", meaning.removesuffix(".")) for name, meaning in VARIABLES.items())
    return {
        **made,
        "variables": _table(("variable", "meaning"), rows),
        "Replica": _table(("argument", "default", "meaning"), _arguments()),
        "commands": "\n".join(command_section(words, command) for words, command in commands()),
    }


def settings_table(kind: type[Any]) -> str:
    """Return the table of a settings class; flags and variables are those of ``serve``."""
    of_serve = kind in _OF_SERVE
    head = ("setting", "default", "meaning", *(("flag, environment variable",) if of_serve else ()))
    documented = _attribute_docstrings(kind)
    rows = []
    for each in fields(kind):
        if each.name == "kafka":
            continue  # the table [kafka] of the file
        help_text = each.metadata.get("help") or documented[each.name]
        cells = [f"`{each.name}` ({_shown_type(each.type)})", _default(each), _sentence(help_text)]
        if of_serve:
            flag = each.name.replace("_", "-")
            flags = f"`--{flag}`" + (f", `--no-{flag}`" if each.type == "bool" else "")
            cells.append(f"{flags}, `KAFKA_REPLICA_{each.name.upper()}`")
        rows.append(cells)
    return _table(head, rows)


def commands() -> Iterator[tuple[str, click.Command]]:
    """Yield all commands that are not groups, with the words that call them."""
    context = click.Context(kafka_replica)
    for name in kafka_replica.list_commands(context):
        command = kafka_replica.get_command(context, name)
        if isinstance(command, click.Group):
            yield from ((f"{name} {below}", each) for below, each in command.commands.items())
        elif command is not None:
            yield name, command


def command_section(words: str, command: click.Command) -> str:
    """Return a heading, the summary, and the table of options."""
    arguments = [parameter for parameter in command.params if isinstance(parameter, click.Argument)]
    usage = " ".join(
        ["kafka-replica", words, *(argument.make_metavar(click.Context(command)) for argument in arguments)]
    )
    text = f"### kafka-replica {words}\n\n`{usage}`: {_sentence(command.get_short_help_str(300))}.\n\n"
    if words == "serve":
        return (
            f"{text}The options are the settings of [the service](#the-service), and those in this table.\n\n"
            + _table(
                ("option", "default", "meaning"),
                (_option_row(option) for option in _options(command) if not _is_setting(option)),
            )
        )
    return text + _table(("option", "default", "meaning"), map(_option_row, _options(command)))


def _options(command: click.Command) -> list[click.Option]:
    found = [param for param in command.params if isinstance(param, click.Option) and not param.hidden]
    return sorted(found, key=lambda one: not one.required)


def _is_setting(option: click.Option) -> bool:
    return option.name in {each.name for kind in _OF_SERVE for each in fields(kind)}


def _option_row(option: click.Option) -> list[str]:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    choices = option.type.choices if isinstance(option.type, click.Choice) else ()
    meaning = _sentence(option.help or "")
    if choices:
        meaning += f": {', '.join(f'`{choice}`' for choice in choices)}"
    if option.envvar:
        meaning += f" (`{option.envvar}`)"
    shown = "required" if option.required else ""
    if option.show_default and not option.required:
        shown = f"`{option.to_info_dict()['default']}`"
    return [names, shown, meaning]


def _arguments() -> Iterator[list[str]]:
    """Yield the arguments of a replica, with the texts of its docstring."""
    text = inspect.getdoc(Replica) or ""
    section = textwrap.dedent(text.partition("Args:\n")[2].partition("\n\n")[0])
    meanings = dict(re.findall(r"^(\w+): (.*(?:\n    .*)*)", section, re.MULTILINE))
    for name, parameter in list(inspect.signature(Replica.__init__).parameters.items())[1:]:
        default = "required" if parameter.default is parameter.empty else _shown_value(parameter.default)
        yield [f"`{name}` ({_shown_type(parameter.annotation)})", default, _sentence(meanings[name])]


def _attribute_docstrings(kind: type[Any]) -> dict[str, str]:
    """Return the docstrings below the fields of a class."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    found = {}
    for field, below in zip(tree.body, tree.body[1:], strict=False):
        is_text = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and is_text:
            found[field.target.id] = ast.literal_eval(below.value)  # type: ignore[attr-defined]
    return found


def _default(field: Any) -> str:
    return "required" if field.default is MISSING else _shown_value(field.default)


def _shown_value(value: object) -> str:
    if value in (None, "", ()):
        return ""
    if isinstance(value, tuple):
        return ", ".join(f"`{each}`" for each in value)
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value:.10g}`" if isinstance(value, float) else f"`{value}`"


def _shown_type(kind: object) -> str:
    text = re.sub(r"\b[a-z_]+\.(?=\w)", "", str(kind)).removesuffix(" | None").replace(" | ", " or ")
    if choice := re.fullmatch(r"Literal\[(.*)\]", text):
        return choice[1].replace(", ", " or ")
    return {"tuple[str, ...]": "list of str", "FirstStart": "str", "Api": "str", "Numeric": "str"}.get(text, text)


def _sentence(text: str) -> str:
    return re.sub(r"``(.*?)``", r"`\1`", " ".join(text.split())).removesuffix(".").replace("|", "\\|")


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    names = list(head)
    lines = [names, ["---"] * len(names), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines).replace("| --- ", "|---").replace("--- |", "---|")


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
