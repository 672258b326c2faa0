"""A network that fails: TCP proxies in front of brokers, which cut, stall, slow down and drop connections."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable
from contextlib import suppress

from kafka_replica.embedded.errors import EmbeddedKafkaError

_HOST = "127.0.0.1"
_CHUNK_BYTES = 64 * 1024
_SLOW_BYTES_PER_S = 30_000
_SLOW_DELAY_S = 0.1


class _Connection:
    """A client's connection, with its other half to the broker."""

    def __init__(self, client: asyncio.StreamWriter, broker: asyncio.StreamWriter) -> None:
        self.client, self.broker = client, broker
        self.doomed = False

    def abort(self) -> None:
        """End both halves immediately."""
        for half in (self.client, self.broker):
            half.transport.abort()


class Proxy:
    """A port that leads to another. Its methods are for the thread of the event loop."""

    def __init__(self, port: int, target_port: int) -> None:
        self._port, self._target_port = port, target_port
        self._connections: set[_Connection] = set()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._refusing = self._slow = False
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Begin to listen."""
        self._server = await asyncio.start_server(self._serve, _HOST, self._port)

    def stop(self) -> None:
        """Close the port and all connections."""
        self.cut()
        if self._server is not None:
            self._server.close()

    def cut(self) -> None:
        """End all connections, and new ones immediately, until healed."""
        self._refusing = True
        for connection in self._connections:
            connection.abort()

    def stall(self) -> None:
        """Block all traffic until healed; connections stay open."""
        self._flowing.clear()

    def slow(self) -> None:
        """Slow down all traffic until healed."""
        self._slow = True

    def drop(self) -> None:
        """End about half of the connections in the middle of the broker's next response."""
        for connection in self._connections:
            connection.doomed |= random.random() < 0.5

    def heal(self) -> None:
        """End the fault."""
        self._refusing = self._slow = False
        self._flowing.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if self._refusing:
                raise ConnectionRefusedError
            from_broker, to_broker = await self._to_target()
        except OSError:
            writer.transport.abort()
            return
        connection = _Connection(writer, to_broker)
        self._connections.add(connection)
        try:
            await asyncio.gather(
                self._pump(reader, to_broker, connection, dooming=False),
                self._pump(from_broker, writer, connection, dooming=True),
            )
        finally:
            self._connections.discard(connection)

    async def _to_target(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(_HOST, self._target_port)

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: _Connection, *, dooming: bool
    ) -> None:
        try:
            while data := await reader.read(_CHUNK_BYTES):
                await self._flowing.wait()
                if self._slow:
                    await asyncio.sleep(_SLOW_DELAY_S + len(data) / _SLOW_BYTES_PER_S)
                if dooming and connection.doomed:
                    writer.write(data[: len(data) // 2])
                    await writer.drain()
                    break
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()
            if connection.doomed:
                connection.abort()


class Network:
    """The proxies of a cluster, in a separate thread.

    Args:
        ways: for each proxy the port to listen on and the port it leads to.
        make: makes a proxy of these two.
    """

    def __init__(self, ways: list[tuple[int, int]], make: Callable[[int, int], Proxy] = Proxy) -> None:
        self._ways = ways
        self._make = make
        self._proxies: list[Proxy] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxies", daemon=True)

    def start(self) -> None:
        """Begin to listen.

        Raises:
            EmbeddedKafkaError: a port is in use.
        """
        self._thread.start()
        try:
            asyncio.run_coroutine_threadsafe(self._open(), self._loop).result(10)
        except OSError as error:
            self.stop()
            raise EmbeddedKafkaError(f"while starting a proxy for the broker: {error}; try again") from error

    def stop(self) -> None:
        """End all proxies."""
        for number in range(len(self._proxies)):
            self.tell(number, Proxy.stop)
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._finish(), self._loop).result(5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def tell(self, number: int, verb: Callable[[Proxy], None]) -> None:
        """Call a method of a proxy, for example ``network.tell(0, Proxy.cut)``."""
        self._loop.call_soon_threadsafe(verb, self._proxies[number])

    async def _open(self) -> None:
        for port, target in self._ways:
            proxy = self._make(port, target)
            await proxy.start()
            self._proxies.append(proxy)

    async def _finish(self) -> None:
        """Let aborted connections end."""
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
