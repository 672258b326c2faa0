"""Measurements of Spark's plans."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame


def longest_method(df: DataFrame) -> int:
    """Return the bytes of the longest Java method of a plan's stages; Java compiles none of more than 8,000."""
    jvm: Any = df.sparkSession._jvm
    debug = getattr(getattr(jvm.org.apache.spark.sql.execution.debug, "package$"), "MODULE$")
    stages = debug.codegenStringSeq(df._jdf.queryExecution().executedPlan())
    return max(stages.apply(number)._3().maxMethodCodeSize() for number in range(stages.size()))


def plan_nodes(df: DataFrame) -> int:
    """Return the number of nodes of all expressions in a frame's optimized plan."""
    return _nodes_of_plan(df._jdf.queryExecution().optimizedPlan())


def _nodes_of_plan(plan: Any) -> int:
    expressions, children = plan.expressions(), plan.children()
    own = sum(_nodes_of(expressions.apply(number)) for number in range(expressions.size()))
    return own + sum(_nodes_of_plan(children.apply(number)) for number in range(children.size()))


def _nodes_of(expression: Any) -> int:
    children = expression.children()
    return 1 + sum(_nodes_of(children.apply(number)) for number in range(children.size()))
