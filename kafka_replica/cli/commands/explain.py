"""``kafka-replica explain``: explains an error, a code of Kafka, an alert, a rule, a state or an exit status."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from importlib import import_module

import click

from kafka_replica.broker.errors import ExplainedCode, codes_of_kafka
from kafka_replica.cli.advice import ADVICE, EXIT_STATUSES, STATES
from kafka_replica.cli.options import JSON
from kafka_replica.cli.output import print_json_line, print_line
from kafka_replica.common.wording import did_you_mean
from kafka_replica.data.mapping.catalogue import MAP_RULES
from kafka_replica.data.validation.catalogue import CATALOGUE
from kafka_replica.errors import UsageError
from kafka_replica.metrics.alerts import ALERTS, Alert
from kafka_replica.publication.status import State


@click.command()
@click.argument("code", required=False)
@JSON
def explain(code: str | None, as_json: bool) -> None:
    """Explain CODE: an error such as StoreInUseError, an alert, a rule such as code-unknown, a state or exit status.

    The error codes in messages of Kafka, such as LEADER_NOT_AVAILABLE, are explained, too. Upper and lower case are
    equal. Without CODE, list all codes but those of Kafka.
    """
    if code is None:
        _list_codes(as_json)
        return
    facts = explanation(code)
    if as_json:
        print_json_line(facts)
    else:
        for name, text in facts.items():
            print_line(f"{name}: {text}")


def explanation(code: str) -> dict[str, str]:
    """Return the explanation of a code as texts by title, such as ``meaning`` and ``what to do``.

    Raises:
        UsageError: there is no such code; the message suggests similar codes.
        MissingExtraError: a library that the package of the error needs is not installed.
    """
    statuses = {number: text for key, text in EXIT_STATUSES.items() for number in key.split(", ")}
    explained: dict[str, Callable[[], dict[str, str]]] = {
        **{number: partial(_of_status, number, text) for number, text in statuses.items()},
        **{name: partial(_of_error, name) for name in ADVICE},
        **{rule: partial(_of_rule, rule) for rule in (*CATALOGUE, *MAP_RULES)},
        **{alert.name: partial(_of_alert, alert) for alert in ALERTS},
        **{str(state): partial(_of_state, state) for state in STATES},
        **{name: partial(_of_code, name, found) for name, found in codes_of_kafka().items()},
    }
    by_lower = {name.lower(): explain_it for name, explain_it in explained.items()}
    wanted = code.lower()
    found = by_lower.get(wanted) or by_lower.get(re.sub("[_-]", " ", wanted))
    if found is None:
        raise UsageError(
            f"there is no code {code!r}{did_you_mean(code, explained, 3)}; run kafka-replica explain without a code to "
            "list all"
        )
    return found()


def meaning_of_error(name: str) -> str:
    """Return the first sentence of an error's docstring, as plain text."""
    found = getattr(import_module(ADVICE[name].package), name)
    return str(found.__doc__).split("\n", 1)[0].replace("``", "`")


def _plain(text: str) -> str:
    """Return a text without Markdown's links and backquotes."""
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text).replace("`", "")


def _of_status(number: str, text: str) -> dict[str, str]:
    return {"exit status": number, "meaning": _plain(text)}


def _of_code(name: str, found: ExplainedCode) -> dict[str, str]:
    error = found.error.__name__
    advice = ADVICE[error]
    return {
        "error code of Kafka": name,
        "meaning": found.meaning,
        "reported as": f"{advice.package}.{error}",
        "what to do": found.advice or _plain(advice.action),
    }


def _of_error(name: str) -> dict[str, str]:
    advice = ADVICE[name]
    return {
        "error": f"{advice.package}.{name}",
        "meaning": _plain(meaning_of_error(name)),
        "what to do": _plain(advice.action),
    }


def _of_rule(code: str) -> dict[str, str]:
    if code in CATALOGUE:
        rule = CATALOGUE[code]
        kind, severity, found, source = "rule of validation", rule.severity, rule.broken, rule.source
        others = {"in FMR": rule.fmr, "in STRUVAL": rule.struval}
    else:
        mapped = MAP_RULES[code]
        kind, severity, found, source = "rule of mapping", mapped.severity, mapped.found, mapped.source
        others = {}
    facts = {
        kind: code,
        "severity": severity,
        "found when": found,
        "source": source,
        **others,
        "what to do": f"correct the data or the structure; --rules {code}=off, or another severity, changes the effect",
    }
    return {name: text for name, text in facts.items() if text}


def _of_alert(alert: Alert) -> dict[str, str]:
    return {
        "alert": alert.name,
        "severity": alert.severity,
        "condition": f"{alert.expression}, for {alert.wait}",
        "meaning": alert.effect,
        "what to do": _plain(alert.action),
    }


def _of_state(state: State) -> dict[str, str]:
    advice = STATES[state]
    facts = {"meaning": advice.meaning, "ready": advice.ready, "readers get": advice.readers, "ends when": advice.end}
    return {"state": str(state)} | {name: _plain(text) for name, text in facts.items()}


def _list_codes(as_json: bool) -> None:
    kinds = {
        "errors": list(ADVICE),
        "rules of validation": list(CATALOGUE),
        "rules of mapping": list(MAP_RULES),
        "alerts": [alert.name for alert in ALERTS],
        "states of a replica": [str(state) for state in STATES],
        "exit statuses": [number for key in EXIT_STATUSES for number in key.split(", ")],
    }
    if as_json:
        print_json_line(kinds)
        return
    for kind, codes in kinds.items():
        print_line(f"{kind}: {', '.join(codes)}")
