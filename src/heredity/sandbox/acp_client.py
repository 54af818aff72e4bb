"""A client of the Agent Client Protocol, which gives one prompt to an agent. Imports nothing of Heredity.

    acp_client.py [--packages FOLDER] [--model NAME] [--effort NAME] [--prompt TEXT] [--resume] -- COMMAND

It runs next to the agent, in its sandbox, so that the host never reads the agent's messages. It starts COMMAND with
/bin/sh, opens a session in the workspace (or, with --resume, the last one, if the agent can load it), and sends the
prompt; by default $HEREDITY_PROMPT. Every message from the agent is printed as a line of JSON. Permission requests are
granted, since the sandbox confines the agent. Requests for files are answered below the workspace only. SIGTERM cancels
the turn. Exit codes: 0 the turn ended; 1 the agent refused, failed, or does not speak the protocol; 143 cancelled;
otherwise that of an agent that ended in mid-turn.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
from pathlib import Path
from typing import Any, cast

EXIT_FAILED, EXIT_CANCELLED = 1, 143
_LONGEST_MESSAGE = 64 << 20
_LARGEST_FILE = 64 << 20
_START_S = 120.0
_CANCEL_S = 5.0
_AUTH_REQUIRED = -32000
_SESSION = ".home/acp-session.json"


class TurnError(Exception):
    """A turn that could not be completed, with the exit code."""

    def __init__(self, message: str, code: int = EXIT_FAILED) -> None:
        super().__init__(message)
        self.code = code


def main(arguments: list[str] | None = None) -> int:
    """Run one turn and return the exit code."""
    parser = argparse.ArgumentParser(prog="acp_client", description="Give a prompt to an agent.")
    for name in ("--packages", "--model", "--effort", "--prompt"):
        parser.add_argument(name, default="")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    # The library logs a traceback; below, one line reports it.
    logging.disable()
    if options.packages:
        sys.path.insert(0, options.packages)
    try:
        return asyncio.run(_run(options, Path(os.environ.get("HEREDITY_WORKSPACE") or ".").resolve()))
    except TurnError as error:
        sys.stderr.write(f"{error}\n")
        return error.code


def inside(path: str, workspace: Path) -> Path:
    """Return the file that a request names, with links resolved.

    Raises:
        PermissionError: if it is outside the workspace.
    """
    file = Path(workspace, path).resolve()
    if not file.is_relative_to(workspace):
        raise PermissionError(f"{path} is outside {workspace}")
    return file


def choice(options: list[Any]) -> str | None:
    """Return the option that grants a permission, permanently if offered; None if none does."""
    for kind in ("allow_always", "allow_once"):
        for option in options:
            if option.kind == kind:
                return str(option.option_id)
    return None


def _print(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"type": "acp", **message}) + "\n")
    sys.stdout.flush()


class Client:
    """Answers an agent's requests.

    Args:
        workspace: the only folder whose files it reads and writes.
    """

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace

    async def request_permission(self, session_id: str, tool_call: Any, options: list[Any], **_: Any) -> Any:
        """Grant a permission."""
        from acp.schema import AllowedOutcome, DeniedOutcome, RequestPermissionResponse

        chosen = choice(options)
        outcome = (
            DeniedOutcome(outcome="cancelled")
            if chosen is None
            else AllowedOutcome(outcome="selected", option_id=chosen)
        )
        return RequestPermissionResponse(outcome=outcome)

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        """Do nothing: all messages are printed as they arrive."""

    async def read_text_file(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None, **_: Any
    ) -> Any:
        """Return lines of a text file of the workspace."""
        from acp.exceptions import RequestError
        from acp.schema import ReadTextFileResponse

        try:
            file = inside(path, self._workspace)
            if file.stat().st_size > _LARGEST_FILE:
                raise OSError(f"{path} exceeds {_LARGEST_FILE} bytes")
            text = file.read_bytes().decode("utf-8", "replace")
        except OSError as error:
            raise RequestError.invalid_params({"details": str(error)}) from error
        if line is not None or limit is not None:
            first = max((line or 1) - 1, 0)
            text = "".join(text.splitlines(keepends=True)[first : None if limit is None else first + limit])
        return ReadTextFileResponse(content=text)

    async def write_text_file(self, session_id: str, path: str, content: str, **_: Any) -> Any:
        """Write a text file of the workspace."""
        from acp.exceptions import RequestError
        from acp.schema import WriteTextFileResponse

        try:
            file = inside(path, self._workspace)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode())
        except OSError as error:
            raise RequestError.invalid_params({"details": str(error)}) from error
        return WriteTextFileResponse()


class _Turn:
    """One prompt to one agent."""

    def __init__(self, options: argparse.Namespace, workspace: Path, agent: Any) -> None:
        self._options, self._workspace, self._agent = options, workspace, agent
        self._cancelled = False
        self.session = ""

    async def answer(self) -> int:
        """Give the prompt; return the exit code."""
        from acp import text_block

        started = await asyncio.wait_for(self._open(), _START_S)
        await self._configure(started)
        prompt = self._options.prompt or os.environ.get("HEREDITY_PROMPT", "")
        ended = await self._agent.prompt(session_id=self.session, prompt=[text_block(prompt)])
        if self._cancelled or ended.stop_reason == "cancelled":
            return EXIT_CANCELLED
        if ended.stop_reason == "refusal":
            raise TurnError("the agent's model refused to go on")
        return 0

    async def cancel(self) -> None:
        """Cancel the turn."""
        self._cancelled = True
        if self.session:
            with contextlib.suppress(Exception):
                await self._agent.cancel(session_id=self.session)

    async def _open(self) -> Any:
        from acp import PROTOCOL_VERSION
        from acp.exceptions import RequestError
        from acp.schema import ClientCapabilities, FileSystemCapabilities, Implementation

        files = FileSystemCapabilities(read_text_file=True, write_text_file=True)
        greeting = await self._agent.initialize(
            protocol_version=PROTOCOL_VERSION,
            client_capabilities=ClientCapabilities(fs=files, terminal=False),
            client_info=Implementation(name="heredity", version="1"),
        )
        if greeting.protocol_version != PROTOCOL_VERSION:
            raise TurnError(
                f"the agent speaks version {greeting.protocol_version} of the Agent Client Protocol, not {PROTOCOL_VERSION}"
            )
        try:
            return await self._session(greeting)
        except RequestError as error:
            method = _key_method(greeting.auth_methods or [])
            if error.code != _AUTH_REQUIRED or method is None:
                raise
            await self._agent.authenticate(method_id=method)
            return await self._session(greeting)

    async def _session(self, greeting: Any) -> Any:
        file, folder = self._workspace / _SESSION, str(self._workspace)
        able = greeting.agent_capabilities
        if self._options.resume and not os.environ.get("HEREDITY_ANEW") and able is not None and able.load_session:
            with contextlib.suppress(Exception):
                self.session = str(json.loads(file.read_text())["session"])
                return await self._agent.load_session(cwd=folder, session_id=self.session, mcp_servers=[])
        started = await self._agent.new_session(cwd=folder, mcp_servers=[])
        self.session = started.session_id
        with contextlib.suppress(OSError):
            file.parent.mkdir(exist_ok=True)
            file.write_text(json.dumps({"session": self.session}))
        return started

    async def _configure(self, started: Any) -> None:
        """Choose the model and the effort, where the agent offers them."""
        wanted = {"model": self._options.model, "thought_level": self._options.effort}
        for option in getattr(started, "config_options", None) or []:
            name = wanted.pop(option.category, "") if isinstance(option.category, str) else ""
            value = _value(option, name) if name else None
            if value is not None and value != option.current_value:
                await self._agent.set_config_option(config_id=option.id, session_id=self.session, value=value)
            elif name and value is None:
                wanted[option.category] = name
        if wanted["thought_level"]:
            raise TurnError(f"the agent offers no effort {wanted['thought_level']!r}; leave effort out")


def _value(option: Any, name: str) -> str | None:
    """Return the value of an option that has a name, or ends with it after its provider."""
    entries = [entry for item in getattr(option, "options", []) for entry in getattr(item, "options", [item])]
    values = [str(entry.value) for entry in entries]
    return next((value for value in values if value == name or value.endswith(f"/{name}")), None)


def _key_method(methods: list[Any]) -> str | None:
    """Return the method of authentication that uses a key from the environment."""
    for method in methods:
        words = f"{method.id} {method.name}".lower()
        if getattr(method, "type", "") == "env_var" or "api" in words or "openai" in words:
            return str(method.id)
    return None


async def _run(options: argparse.Namespace, workspace: Path) -> int:
    import acp
    from acp.connection import StreamDirection

    command = " ".join(options.command[1:] if options.command[:1] == ["--"] else options.command)

    def observe(event: Any) -> None:
        if event.direction is StreamDirection.INCOMING:
            _print(event.message)

    failure: TurnError | None = None
    code = EXIT_FAILED
    # Closing the pipes of an agent that has ended may fail, which says nothing new.
    with contextlib.suppress(OSError):
        async with acp.spawn_agent_process(
            cast("Any", Client(workspace)),
            # In a sandbox, signals for the client's group must not end the agent before its turn is cancelled.
            *(("setsid",) if options.packages else ()),
            "/bin/sh",
            "-c",
            command,
            env=dict(os.environ),
            cwd=workspace,
            transport_kwargs={"stderr": None, "limit": _LONGEST_MESSAGE},
            observers=[observe],
        ) as (agent, process):
            try:
                code = await _turn(_Turn(options, workspace, agent), asyncio.create_task(process.wait()))
            except TurnError as error:
                failure = error
    if failure is not None:
        raise failure
    return code


async def _turn(turn: _Turn, exited: asyncio.Task[int]) -> int:
    answering, asked = asyncio.create_task(turn.answer()), asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asked.set)
    asking = asyncio.create_task(asked.wait())
    await asyncio.wait({answering, exited, asking}, return_when=asyncio.FIRST_COMPLETED)
    asking.cancel()
    if asked.is_set() and not answering.done():
        await turn.cancel()
        await asyncio.wait({answering}, timeout=_CANCEL_S)
    if not answering.done():
        # An agent's last messages may be read after its end.
        await asyncio.wait({answering}, timeout=1.0)
    failure = answering.exception() if answering.done() else None
    if answering.done() and failure is None:
        return answering.result()
    answering.cancel()
    if asked.is_set():
        return EXIT_CANCELLED
    if failure is None or isinstance(failure, ConnectionError):
        await asyncio.wait({exited}, timeout=1.0)
    raise _explained(failure, exited.result() if exited.done() else None) from failure


def _explained(failure: BaseException | None, code: int | None) -> TurnError:
    """Return the error for a turn that failed, or whose agent ended with a code."""
    if isinstance(failure, TurnError):
        return failure
    if code is not None:
        code = code if code >= 0 else 128 - code
        return TurnError(f"the agent ended with code {code} before its turn did", code or EXIT_FAILED)
    if isinstance(failure, TimeoutError):
        return TurnError(f"the agent opened no session within {_START_S:.0f} seconds; does it speak the protocol?")
    return TurnError(f"the agent failed: {failure}")


if __name__ == "__main__":
    sys.exit(main())
