"""The sources of the values of options: a flag, or an environment variable."""

from __future__ import annotations

import click
from click.core import ParameterSource


def variable_of(parameter: click.Parameter, context: click.Context) -> str | None:
    """Return the environment variable from which an option has its value; None if it has another source."""
    if context.get_parameter_source(parameter.name) is not ParameterSource.ENVIRONMENT:
        return None
    if parameter.envvar is not None:
        return parameter.envvar if isinstance(parameter.envvar, str) else parameter.envvar[0]
    return f"{context.auto_envvar_prefix}_{parameter.name.upper()}"


def name_source(error: click.ClickException) -> None:
    """Make an error about a value from an environment variable name the variable instead of the flag."""
    if isinstance(error, click.BadParameter) and error.param is not None and error.ctx is not None:
        variable = variable_of(error.param, error.ctx)
        if variable is not None:
            error.param_hint = f"'{variable}'"
