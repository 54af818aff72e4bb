"""Members from outside: coding agents, each step in a separate sandbox (Autogenesis, section 4), and agents over A2A.

    [agents.engineer]
    description = "writes and tests programs"
    launcher = "claude-code"        # or "codex", "mini-swe-agent", or a folder with start.sh: "./my-agent"

    [agents.translator]
    a2a = "https://agents.example.org/translator"

The launchers start a coding agent. Its workspace holds the task's files and the results of earlier steps, and it calls its
model through a broker (its calls are in the team's accounts). The step's result is `answer.md`, or else its last
message, and the files in `results/`. A step that was interrupted with the team restarts in the same workspace, and
the prompt says so.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import stat
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast
from urllib.parse import urlsplit

from heredity._core.errors import BudgetError, ConfigError, HeredityError, IsolationError, MissingExtraError
from heredity._core.ids import digest_json
from heredity._core.outside import ANY_SIZE, read_bytes
from heredity.agents.launchers import (
    AgentExit,
    BrokerDoor,
    CommandAgent,
    Launch,
    LaunchOptions,
    available,
    launcher,
    run_agent,
)
from heredity.agents.launchers.command import DISK_BYTES
from heredity.models import Model, Reply, Request
from heredity.models.contract import NOTHING_USED
from heredity.records.agent_starts import exit_words
from heredity.resources import SourceTree
from heredity.sandbox.agent_bubblewrap import INSIDE
from heredity.team.agent import AgentFailedError, question_of, shortened
from heredity.team.bus import NOBODYS
from heredity.team.participant import Context, Message
from heredity.team.settings import AgentSection, TeamSettings
from heredity.team.tools.mcp import bounded_transport
from heredity.team.tools.mcp_settings import variable

if TYPE_CHECKING:
    from a2a.client import Client
    from a2a.types.a2a_pb2 import AgentCard, Part, Task

FILES, GIVEN, RESULTS, ANSWER = "files", "given", "results", "answer.md"
"""Contents of a workspace: the task's files and the results of earlier steps, both read-only; the agent's results."""

_MOST_ANSWER = 60_000
_MOST_RESULTS = 64 << 20
_MOST_FILES = 500
_LOG_BYTES = 16 << 20
_SHOWN_FILES, _SHOWN = 4, 2_000
_LAST = 1_200
_AROUND = """\
You work in {workspace}. {given}Write what you were asked for into {answer}: the answer itself, in words that stand alone. Files \
that others are to have go into {results}/. Nobody can answer questions; end when you have done it."""
_AGAIN = (
    "This was begun before and was interrupted: your files are as you left them. Look at them, and go on from there."
)


class ModelDoor(Protocol):
    """Serves a model to an agent (`heredity.agents.models.models_for_agent`)."""

    def __call__(self, model: Model, *, run: str, record: Any, online: bool) -> AbstractAsyncContextManager[BrokerDoor]:
        """Serve it inside a block."""
        ...


@dataclass(frozen=True)
class CodingAgents:
    """Shared settings of a team's coding agents.

    Attributes:
        files: the task's files, by name.
        door: serves their models; None for no server.
        unsafe: run them without a sandbox.
    """

    files: Mapping[str, Path]
    door: ModelDoor | None
    unsafe: bool = False

    def agent(self, name: str, section: AgentSection, model: Model | None, folder: Path) -> CodingAgent:
        """Return the handler of one agent's steps in a task's folder.

        Raises:
            ConfigError: if its program is not installed, or its model cannot be served here.
            IsolationError: if it cannot be confined here.
        """
        if model is not None and self.door is None:
            raise ConfigError(
                f"agents.{name}.launcher: nothing here serves models to coding agents; give "
                "door=heredity.agents.models.models_for_agent"
            )
        if not self.unsafe and (reason := available()) is not None:
            raise IsolationError(f"agents.{name}.launcher: coding agents cannot be confined here: {reason}")
        agent = CodingAgent(name, section, model, folder.resolve() / "agents", self)
        agent.launched("")
        return agent


@dataclass(frozen=True)
class CodingAgent:
    """Handles the steps of a coding agent.

    Attributes:
        name: its name in the team.
        section: its launcher and limits.
        model: its model (None for none).
        folder: the parent of its workspaces, one for each step.
        shared: settings shared with other coding agents.
    """

    name: str
    section: AgentSection
    model: Model | None
    folder: Path
    shared: CodingAgents

    def launched(self, prompt: str) -> Launch:
        """Return the launch of its program; raises ConfigError if it is not installed."""
        # Agents look up a model by its bare name, without the provider.
        name = self.model.name if self.model else ""
        return launcher(self.section.launcher).launch(
            prompt, name.rpartition("/")[2], LaunchOptions(provider=name.partition("/")[0])
        )

    async def __call__(self, message: Message, context: Context) -> dict[str, Any]:
        """Do a step; return its answer and usage.

        Raises:
            AgentFailedError: if it ends with an error, exceeds its disk space, or leaves no answer.
            HostError, RecordError, BudgetError: if its model failed through no fault of the team.
        """

        async def work() -> Any:
            return await self._work(message, context)

        # An agent whose end is recorded is not started again.
        return dict(await context.once("agent", work))

    async def _work(self, message: Message, context: Context) -> dict[str, Any]:
        earlier = context.effects
        start = 1 + sum(name.startswith("start-") for name, _ in earlier)
        attempt_folder = (
            self.folder / f"{_plain(str(message.body.get('step', '')) or 'asked')}-{digest_json(message.id)[:12]}"
        )
        workspace = attempt_folder / "workspace"
        await asyncio.to_thread(self._lay_out, workspace, message)
        prompt = "\n\n".join(filter(None, (self.section.prompt, question_of(message.body), self._around(workspace))))
        prompt += f"\n\n{_AGAIN}" if start > 1 else ""
        await self._note_start(context, start, attempt_folder.name)
        counted = _Counted(self.model, self.section, context, start, earlier) if self.model else None
        logs = attempt_folder / f"start-{start}"
        async with AsyncExitStack() as stack:
            broker = None
            if counted is not None and self.shared.door is not None:
                serving = self.shared.door(counted, run=message.id, record=_unrecorded, online=self.section.network)
                broker = await stack.enter_async_context(serving)
            agent = self._command(prompt, workspace, again=start > 1)
            ended = await run_agent(agent, workspace=workspace, logs=logs, broker=broker)
        if ended.reason != "exited" or ended.code != 0:
            raise self._failure(ended, counted)
        answer = await asyncio.to_thread(_answer, workspace, logs, ended)
        left = await asyncio.to_thread(self._keep, workspace, message)
        if not answer:
            raise AgentFailedError(f"{self.name} ended without an answer: {ANSWER} is empty, and it printed nothing")
        usage = (counted.used if counted else NOTHING_USED).to_json()
        calls = counted.calls if counted else 0
        return {
            "answer": f"{answer}{left}",
            "calls": calls,
            "usage": usage,
            "start": start,
            "workspace": attempt_folder.name,
        }

    async def _note_start(self, context: Context, start: int, folder_name: str) -> None:
        """Record its start and workspace; report a restart as a status."""

        async def started() -> dict[str, Any]:
            return {"launcher": self.section.launcher, "workspace": folder_name, "again": start > 1}

        await context.once(f"start-{start}", started)
        if start > 1:
            await context.report({"text": f"started again (start {start}): the team was stopped while it was at work"})

    def _command(self, prompt: str, workspace: Path, *, again: bool) -> CommandAgent:
        launch, section = self.launched(prompt), self.section
        inside = str(workspace) if self.shared.unsafe else INSIDE
        own = {"HEREDITY_WORKSPACE": inside, "HEREDITY_PROMPT": prompt}
        return CommandAgent(
            launch.again if again and launch.again else launch.command,
            environment={**own, **launch.environment},
            read_only=launch.read_only,
            trees=launch.trees,
            protected=(self.folder.parent,),
            network=section.network,
            unsafe=self.shared.unsafe,
            max_log_bytes=_LOG_BYTES,
            host_files=(FILES, GIVEN),
            memory_bytes=section.memory_mib << 20 if section.memory_mib else None,
            disk_bytes=section.disk_mib << 20 if section.disk_mib else DISK_BYTES,
        )

    def _around(self, workspace: Path) -> str:
        there = {FILES: "the files of the task", GIVEN: "what earlier steps gave"}
        parts = [f"{name}/ has {what}. " for name, what in there.items() if any((workspace / name).iterdir())]
        where = str(workspace) if self.shared.unsafe else INSIDE
        return _AROUND.format(workspace=where, given="".join(parts), answer=ANSWER, results=RESULTS)

    def _lay_out(self, workspace: Path, message: Message) -> None:
        """Write the agent's input files; files it wrote before an interruption stay."""
        body = message.body
        workspace.mkdir(parents=True, exist_ok=True)
        for name in (FILES, GIVEN):
            if (workspace / name).exists():
                shutil.rmtree(workspace / name)
            (workspace / name).mkdir()
        for name in body.get("files") or ():
            if name in self.shared.files:
                shutil.copyfile(self.shared.files[name], workspace / FILES / Path(name).name)
        given: Mapping[str, Any] = body.get("given") or {}
        for step, result in given.items():
            (workspace / GIVEN / f"{_plain(step)}.md").write_text(str(result), encoding="utf-8")
            left = self._results_folder(message, step)
            if left.is_dir():
                shutil.copytree(left, workspace / GIVEN / _plain(step))

    def _keep(self, workspace: Path, message: Message) -> str:
        """Keep the agent's files for later steps; return a description of them."""
        kept = self._results_folder(message, str(message.body.get("step", "")))
        shutil.rmtree(kept, ignore_errors=True)
        if not os.path.lexists(workspace / RESULTS):
            return ""
        left_out: list[str] = []
        try:
            tree = SourceTree.from_folder(
                workspace / RESULTS, max_bytes=_MOST_RESULTS, max_files=_MOST_FILES, left_out=left_out
            )
        except (ConfigError, OSError) as error:
            return f"\n\nThe files in {RESULTS}/ are left out: {error}"
        more = f"; and {len(left_out) - _SHOWN_FILES} more" if len(left_out) > _SHOWN_FILES else ""
        missing = f"\n\nLeft out of {RESULTS}/: {'; '.join(left_out[:_SHOWN_FILES])}{more}" if left_out else ""
        if not tree:
            return missing
        tree.write_to(kept)
        listed = ", ".join(f"{path} ({len(tree[path]):,} bytes)" for path in list(tree)[:50])
        texts = [(path, text) for path, text in _texts(tree).items() if text.strip()]
        shown = "".join(f"\n\n{path}:\n{shortened(text, _SHOWN)}" for path, text in texts[:_SHOWN_FILES])
        return f"\n\nFiles that it left: {listed}{missing}{shown}"

    def _results_folder(self, message: Message, step: str) -> Path:
        return self.folder / RESULTS / f"{_plain(step)}-{digest_json([message.parent, step])[:12]}"

    def _failure(self, ended: AgentExit, counted: _Counted | None) -> HeredityError:
        if counted is not None and counted.failed is not None:
            return counted.failed
        exhausted = f"; {counted.spent}" if counted is not None and counted.spent else ""
        output = f"; it printed last:\n{ended.output[-_LAST:]}" if ended.output else "; it printed nothing"
        return AgentFailedError(f"{self.name}: {exit_words(ended.to_json())}{exhausted}{output}")


class _Counted:
    """The model of a step: records each call and enforces the step's limits.

    Attributes:
        used: usage of all starts of the step; `calls`: number of calls.
        failed: the failure of its last call, where the team is not at fault.
        spent: the limit that is reached.
    """

    def __init__(
        self, model: Model, section: AgentSection, context: Context, start: int, earlier: list[tuple[str, Any]]
    ) -> None:
        self.name, self.models = model.name, (model,)
        self._model, self._section, self._context, self._start = model, section, context, start
        before = [Reply.from_json(value).usage for name, value in earlier if name.startswith("model-")]
        self.used = sum(before, NOTHING_USED)
        self.calls = len(before)
        self.failed: HeredityError | None = None
        self.spent = ""

    async def reply(self, request: Request) -> Reply:
        """Answer a request; raises as the model does, and BudgetError where the step's limit is reached."""
        for what, used, most in (
            ("tokens", self.used.tokens, self._section.tokens),
            ("US dollars", self.used.cost_usd, self._section.cost_usd),
        ):
            if most is not None and (used or 0) >= most:
                self.spent = f"its {most:,} {what} are spent"
                raise BudgetError(f"{self.spent}; finish with what you have")
        self.calls += 1
        number = self.calls
        try:
            reply = await self._model.reply(request)
            self.used = self.used + reply.usage
            await self._context.once(f"model-{self._start}-{number}", _answering(_account(reply)))
        except NOBODYS as error:
            self.failed = error
            raise
        self.failed = None
        return reply


def _account(reply: Reply) -> dict[str, Any]:
    """Return the recorded part of a reply: its usage. The text belongs to the agent."""
    return Reply("", usage=reply.usage, model=reply.model, seconds=reply.seconds).to_json()


def _answering(value: dict[str, Any]) -> Any:
    async def answer() -> dict[str, Any]:
        return value

    return answer


async def _unrecorded(_: str, __: Any, ___: Any) -> None:
    """Record nothing: `_Counted` has done so."""


def _answer(workspace: Path, logs: Path, ended: AgentExit) -> str:
    """Return an agent's answer: its answer file, else its last message, else the end of its output."""
    written = _text_of(workspace / ANSWER)
    return shortened((written or _last_message(logs / "agent.events.jsonl") or ended.output).strip(), _MOST_ANSWER)


def _text_of(path: Path) -> str:
    """Return a file written by an agent; empty for a link, or anything but a file."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return ""
    with os.fdopen(file, "rb") as opened:
        if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
            return ""
        return opened.read(4 * _MOST_ANSWER).decode("utf-8", "replace").strip()


def _last_message(events: Path) -> str:
    """Return the last message in an agent's stream of events, as Claude Code and Codex print them."""
    text = ""
    if not events.exists():
        return text
    for line in read_bytes(events, ANY_SIZE).splitlines():
        try:
            event = cast("dict[str, Any]", json.loads(line))
        except RecursionError:
            continue
        item: Any = event.get("item")
        if event.get("type") == "result" and isinstance(event.get("result"), str):
            text = event["result"]
        elif isinstance(item, dict) and cast("dict[str, Any]", item).get("type") == "agent_message":
            text = str(cast("dict[str, Any]", item).get("text", ""))
    return text


def _texts(tree: SourceTree) -> dict[str, str]:
    texts: dict[str, str] = {}
    for path in tree:
        try:
            texts[path] = tree[path].decode()
        except UnicodeDecodeError:
            continue
    return texts


def _plain(name: str) -> str:
    """Return a name as a file name; a digest distinguishes changed names."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)[:40]
    return plain if plain == name else f"{plain}-{digest_json(name)[:6]}"


# Agents reached over A2A.


_FIRST_S, _LAST_S = 0.05, 1.0
_SECONDS = 30.0
_FAILURES = 5


@dataclass(frozen=True)
class ForeignAgent:
    """Handles the tasks of an agent reached over A2A.

    Attributes:
        name: its name in the team.
        url: base URL; its card is at `/.well-known/agent-card.json` below it.
        token: the token sent to it; it goes to the host of `url` alone, even if the card names another.
    """

    name: str
    url: str
    token: str = field(default="", repr=False)

    async def card(self) -> AgentCard:
        """Return its card.

        Raises:
            ForeignAgentError: if it does not answer.
            ConfigError: if its answer is not the card of a usable agent.
            MissingExtraError: if the package is missing.
        """
        async with self._client() as (_, card):
            return card

    async def __call__(self, message: Message, context: Context) -> dict[str, Any]:
        """Send it a step, wait, and return its answer.

        Raises:
            AgentFailedError: if it returns no answer, or does not respond.
        """
        async with self._client() as (client, _):

            async def send() -> Any:
                return await self._send(client, question_of(message.body))

            async def wait() -> Any:
                return await self._wait(client, sent["task"], context)

            # Its effects are unknown, so it is not asked twice.
            sent = await context.once("a2a", send, repeatable=False)
            answer = sent["answer"] if "answer" in sent else await context.once("a2a-answer", wait)
            return {"answer": answer}

    async def _send(self, client: Client, text: str) -> dict[str, str]:
        from a2a.helpers.proto_helpers import get_message_text, new_text_message
        from a2a.types.a2a_pb2 import Role, SendMessageRequest

        request = SendMessageRequest(message=new_text_message(text, role=Role.ROLE_USER))
        request.configuration.return_immediately = True
        async for response in client.send_message(request):
            if response.HasField("message"):
                return {"answer": shortened(get_message_text(response.message), _MOST_ANSWER)}
            if response.HasField("task"):
                return {"task": response.task.id}
        raise AgentFailedError(f"{self.name} answered neither with a message nor with a task")

    async def _wait(self, client: Client, task_id: str, context: Context) -> str:
        from a2a.types.a2a_pb2 import CancelTaskRequest, GetTaskRequest, TaskState

        pause, failures, status_said = _FIRST_S, 0, ""
        try:
            while True:
                try:
                    task = await client.get_task(GetTaskRequest(id=task_id))
                except Exception:
                    failures += 1
                    if failures >= _FAILURES:
                        raise
                else:
                    failures = 0
                    if task.status.state not in (TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING):
                        return _task_answer(self.name, task)
                    now = _words(task.status.message.parts)[:1000]
                    if now and now != status_said:
                        status_said = now
                        await context.report({"text": now})
                await asyncio.sleep(pause)
                pause = min(_LAST_S, pause * 1.5)
        except asyncio.CancelledError:
            # A team that stops continues waiting when it resumes.
            if context.is_over:
                with suppress(Exception):
                    async with asyncio.timeout(1):
                        await client.cancel_task(CancelTaskRequest(id=task_id))
            raise

    @asynccontextmanager
    async def _client(self) -> AsyncGenerator[tuple[Client, AgentCard]]:
        if find_spec("a2a") is None:
            raise MissingExtraError(f"agents.{self.name}: an agent over A2A", "a2a")
        import httpx
        from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
        from a2a.client.errors import A2AClientError
        from a2a.utils.errors import A2AError

        headers = {"authorization": f"Bearer {self.token}"} if self.token else {}
        http = httpx.AsyncClient(
            headers=headers,
            transport=bounded_transport(httpx),
            timeout=_SECONDS,
            trust_env=False,
            follow_redirects=False,
        )
        async with http:
            try:
                card = await A2ACardResolver(http, self.url).get_agent_card()
                self._check(card)
                config = ClientConfig(streaming=False, polling=True, httpx_client=http)
                yield ClientFactory(config).create(card), card
            except (A2AClientError, A2AError, httpx.HTTPError, ValueError) as error:
                raise ForeignAgentError(
                    f"agents.{self.name}: the agent at {self.url} cannot be used: {error}"
                ) from error

    def _check(self, card: AgentCard) -> None:
        """Refuse a card that would send the token and the task to another host."""
        own = _origin(self.url)
        for interface in list(card.supported_interfaces):
            if _origin(interface.url) != own:
                card.supported_interfaces.remove(interface)
        if not card.supported_interfaces:
            raise ConfigError(
                f"agents.{self.name}.a2a: the card of the agent at {self.url} names no address of that host; "
                "give the address that the agent really has"
            )


class ForeignAgentError(AgentFailedError):
    """An outside agent does not answer."""


def _task_answer(name: str, task: Task) -> str:
    from a2a.types.a2a_pb2 import TaskState

    words = "\n\n".join(_words(artifact.parts) for artifact in task.artifacts) or _words(task.status.message.parts)
    if task.status.state != TaskState.TASK_STATE_COMPLETED:
        state = TaskState.Name(task.status.state).removeprefix("TASK_STATE_").lower()
        raise AgentFailedError(f"{name}: {state}: {shortened(words, 1000) or 'it does not say why'}")
    if not words.strip():
        raise AgentFailedError(f"{name} answered with nothing that is text")
    return shortened(words, _MOST_ANSWER)


def _words(parts: Any) -> str:
    from google.protobuf.json_format import MessageToDict

    def part_text(part: Part) -> str:
        return json.dumps(MessageToDict(part.data), ensure_ascii=False) if part.HasField("data") else part.text

    return "\n".join(filter(None, map(part_text, parts)))


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    ports: Mapping[str, int] = {"http": 80, "https": 443}
    return parts.scheme, parts.hostname, parts.port or ports.get(parts.scheme)


def foreign_agents(settings: TeamSettings) -> dict[str, ForeignAgent]:
    """Return the members reached over A2A.

    Raises:
        ConfigError: if the variable of a token is not set.
    """
    return {
        name: ForeignAgent(name, agent.a2a, variable(f"agents.{name}.token", agent.token) if agent.token else "")
        for name, agent in settings.agents.items()
        if agent.a2a
    }


async def described(settings: TeamSettings, foreign: Mapping[str, ForeignAgent]) -> TeamSettings:
    """Return a team with descriptions of its outside members, taken from their cards by default.

    Raises:
        ForeignAgentError: if one of them does not answer.
        ConfigError: if its card cannot be used.
    """
    agents = dict(settings.agents)
    for name, agent in foreign.items():
        if not agents[name].description:
            about = (await agent.card()).description.strip() or f"an agent at {agent.url}"
            agents[name] = agents[name].model_copy(update={"description": shortened(about, 1000)})
    return settings.model_copy(update={"agents": agents})
