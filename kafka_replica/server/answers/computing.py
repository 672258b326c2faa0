"""Computation of answers in threads, with a time limit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar

from kafka_replica.server.errors.problems import busy

T = TypeVar("T")


async def compute_in(executor: Executor, compute: Callable[[], T], timeout_s: float) -> T:
    """Return the result of a function that is run in a thread.

    Args:
        executor: runs the function; its threads bound the number of running computations.
        compute: the function; it is not interrupted at the time limit.
        timeout_s: the time limit.

    Raises:
        Problem: 503 if the computation takes longer.
    """
    future = asyncio.get_running_loop().run_in_executor(executor, compute)
    try:
        async with asyncio.timeout(timeout_s):
            return await future
    except TimeoutError as error:
        raise busy(f"the answer took longer than {timeout_s:g} s") from error
