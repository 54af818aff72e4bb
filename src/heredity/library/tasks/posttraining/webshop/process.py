"""The user's WebShop in one separate process that serves all games: loading takes minutes, a step little."""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache
from itertools import count
from pathlib import Path
from threading import Timer
from typing import IO, Any, TypeVar

from heredity._core.errors import HostError
from heredity.engine.rollout import RolloutError

STEPS = 15
"""Actions in a game, as many as in our own shop."""

LOAD_SECONDS = 1500.0
"""Most wall seconds that loading may take."""

_ANSWER_SECONDS = 120.0
_MOST = 6000
"""Of a longer page the beginning, and the end, where the buttons are, are shown."""

_STARTS = 2
_GUEST = Path(__file__).with_name("guest.py")
_ACTION = re.compile(r"(search|click)\s*\[(.*)\]", re.IGNORECASE | re.DOTALL)
_SHORTCUT = re.compile(r"[<>]")
_KEPT = re.compile(r"PATH|HOME|LANG|LC_\w+|TZ|TMPDIR|LD_LIBRARY_PATH|CONDA_\w+|(JAVA|JDK|JVM|WEBSHOP)_\w+")
"""Variables that WebShop is given; keys of this host's providers are not among them."""

_Told = TypeVar("_Told")


class WebShop:
    """WebShop, started on first use, and restarted once if it dies before answering an action.

    It ends with this process, or ten minutes after its last game. All methods except `do` must run in the thread
    `thread`.

    Args:
        home: the checkout of WebShop.
        python: an interpreter that can import it.
    """

    def __init__(self, home: Path, python: Path) -> None:
        self.thread = ThreadPoolExecutor(1, "webshop")
        self._home, self._python = home, python
        self._server: Server | None = None
        self._starts, self._why = _STARTS, ""
        atexit.register(self.end)

    async def do(self, act: Callable[[], _Told]) -> _Told:
        """Run a function in the thread."""
        return await asyncio.get_running_loop().run_in_executor(self.thread, act)

    def serving(self) -> Server:
        """Return the process, starting it if needed.

        Raises:
            HostError: if it cannot be started, or has died too often.
        """
        if self._server is not None:
            if self._server.running:
                return self._server
            if self._server.ended_well:
                self._starts = _STARTS
            self._why = self._server.last_words()
        if not self._starts:
            raise HostError(f"WebShop failed {_STARTS} times in a row, and is not started again: {self._why}")
        self._starts -= 1
        try:
            self._server = Server(self._home, self._python)
        except HostError as error:
            self._server, self._why = None, str(error)
            raise
        return self._server

    def played(self) -> None:
        """Record that it has answered an action."""
        self._starts = _STARTS - 1

    def end(self) -> None:
        """End the process; the next game starts another one."""
        if self._server is not None:
            self._server.kill()
        self._server, self._starts = None, _STARTS


class Server:
    """A process that has loaded WebShop.

    Args:
        home: the checkout of WebShop, in which it runs.
        python: the interpreter.

    Attributes:
        goals: the instructions of all goals.

    Raises:
        HostError: if it cannot be started, or WebShop cannot be loaded.
    """

    def __init__(self, home: Path, python: Path) -> None:
        self._late = False
        self._words: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - it is read when the process has died
        kept = {name: value for name, value in os.environ.items() if _KEPT.fullmatch(name)}
        # Java often lies beside the interpreter, in an environment that nobody has activated here.
        path = os.pathsep.join([str(python.parent), *filter(None, [kept.get("PATH")])])
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(
                [python, _GUEST],
                cwd=home,
                env={**kept, "PATH": path},
                stdin=pipe,
                stdout=pipe,
                stderr=self._words,
                start_new_session=True,
            )
        except OSError as error:
            raise HostError(f"{python} cannot be started for WebShop: {error}") from error
        self.goals: Sequence[str] = self._answer(LOAD_SECONDS)["goals"]

    @property
    def running(self) -> bool:
        """True if the process runs."""
        return self._process.poll() is None

    @property
    def ended_by_others(self) -> bool:
        """True if it was killed by an unknown cause, not for lack of an answer."""
        return not self._late and self._process.poll() in (-signal.SIGKILL, -signal.SIGTERM)

    @property
    def ended_well(self) -> bool:
        """True if it exited normally, as it does when requests stop."""
        return self._process.poll() == 0

    def ask(self, **request: Any) -> Mapping[str, Any]:
        """Return the answer to a request (see `guest`).

        Raises:
            HostError: if WebShop fails, dies, or does not answer in time (it is then killed).
        """
        assert self._process.stdin is not None
        with suppress(OSError):  # a process that is gone has no answer either
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        reply = self._answer(_ANSWER_SECONDS)
        if "error" in reply:
            raise HostError(f"WebShop failed: {reply['error']}")
        return reply

    def kill(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()

    def last_words(self) -> str:
        """Return the exit of the process, and the last line of its other output."""
        ended = f"exit code {self._process.wait()}"
        self._words.seek(0)
        lines = self._words.read().decode(errors="replace").strip().splitlines()
        return f"{ended}, after “{lines[-1]}”" if lines else ended

    def _answer(self, seconds: float) -> Mapping[str, Any]:
        assert self._process.stdout is not None

        def stop() -> None:
            self._late = True
            self._process.kill()

        slow = Timer(seconds, stop)
        slow.start()
        try:
            line = self._process.stdout.readline()
        finally:
            slow.cancel()
        if line.endswith(b"\n"):
            return json.loads(line)
        with suppress(subprocess.TimeoutExpired):  # its own exit code says more than the signal's
            self._process.wait(1)
        self.kill()
        raise HostError(
            f"WebShop gave no answer within {seconds:g} seconds"
            if self._late
            else f"WebShop ended with {self.last_words()}"
        )


class Game:
    """A goal in play; use it only in the thread of its shop. It is an `Episode`.

    Args:
        shop: the shop process.
        goal: index of the goal.
        instruction: its text.

    Attributes:
        page: the last page.
    """

    _numbers = count()

    def __init__(self, shop: WebShop, goal: int, instruction: str) -> None:
        self.steps, self.instruction, self.page = STEPS, instruction, ""
        self._shop, self._goal, self._name = shop, goal, str(next(self._numbers))
        self._server: Server | None = None

    def reset(self) -> str:
        """Begin, and return the first page.

        Raises:
            HostError: if WebShop fails, or its goals differ from the assigned ones.
        """
        self._server = self._shop.serving()
        if self._server.goals[self._goal : self._goal + 1] != [self.instruction]:
            raise HostError(f"goal {self._goal} of WebShop is another one than was dealt out; has its data changed?")
        return self._shown(self._server.ask(open=self._name, goal=self._goal))

    def step(self, action: str) -> tuple[str, float, bool]:
        """Search or click; anything else changes nothing. The reward is WebShop's, at most 1.

        Raises:
            RolloutError: if WebShop fails at this action.
            HostError: if it had already ended, or was killed.
        """
        server = self._server
        assert server is not None
        if not server.running:
            raise HostError(f"WebShop ended with {server.last_words()}")
        read = _ACTION.search(action)
        if read is None:
            return "That is no action. Use search[words] or click[button].", 0.0, False
        verb, words = read[1].lower(), read[2]
        if verb == "search":
            # Words such as <r> are the site's own shortcuts for testing: products at random, or an exception.
            words = _SHORTCUT.sub(" ", words)
        try:
            reply = server.ask(step=self._name, action=f"{verb}[{' '.join(words.split())}]")
        except HostError as error:
            if server.ended_by_others:
                raise
            raise RolloutError(str(error)) from error
        self._shop.played()
        return self._shown(reply), min(1.0, max(0.0, reply["reward"])), reply["done"]

    def close(self) -> None:
        """Let WebShop forget the game."""
        if self._server is not None and self._server.running:
            with suppress(HostError):
                self._server.ask(close=self._name)

    def _shown(self, reply: Mapping[str, Any]) -> str:
        page: str = reply["page"].strip()
        if len(page) > _MOST:
            page = f"{page[: _MOST // 2]}\n(a part is left out)\n{page[-_MOST // 2 :]}"
        self.page = page
        return page


@lru_cache
def web_shop(home: str, python: str) -> WebShop:
    """Return the one WebShop of a checkout and an interpreter in this process."""
    return WebShop(Path(home), Path(python))
