"""The types of options that are numbers, whose errors name the kind of number in words."""

from __future__ import annotations

from typing import Any

import click


class Number(click.FloatRange):
    """A number within a range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number; fail if the text is not a number, or the number is outside the range."""
        try:
            float(value)
        except ValueError:
            is_time = param is not None and (param.name or "").endswith("_s")
            self.fail(f"{value!r} is not a number{' of seconds' if is_time else ''}, such as 30 or 0.5", param, ctx)
        return super().convert(value, param, ctx)


class WholeNumber(click.IntRange):
    """A whole number within a range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number; fail if the text is not a whole number, or the number is outside the range."""
        try:
            int(value)
        except ValueError:
            self.fail(f"{value!r} is not a whole number, such as 30", param, ctx)
        return super().convert(value, param, ctx)
