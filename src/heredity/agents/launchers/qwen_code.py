"""Qwen Code, run unattended."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import Any

from heredity.agents.launchers.contract import HOME, Launch, LaunchOptions, Takes, home_file
from heredity.agents.launchers.programs import NODE, Build, NpmProgram, Program

PROGRAM = NpmProgram(
    "qwen-code",
    "0.24.4",
    NODE,
    Build(
        "@qwen-code/qwen-code",
        "0.24.4",
        "sha512-pmexy/Nj+BKd3Un1ogqGQE8V4GJn5B6N9PQOrU1GH+lMR29kn6Bgf6YdbZa8hNIoTmAKT1LTPK+P8TibZRPPVg==",
        "cli-entry.js",
        ("vendor/ripgrep/*/rg",),
    ),
)

_INTERFACES = {"anthropic": "anthropic", "google": "gemini"}
"""Providers whose interface it speaks; all others are asked through OpenAI's chat completions."""

_TAKES = Takes(("low", "medium", "high", "max"), ("full", "coding", "shell"), account_model=True)

_TOOLS = {
    "coding": ["run_shell_command", "read_file", "write_file", "edit", "glob", "grep_search"],
    "shell": ["run_shell_command"],
}

# Tools that its list of core tools leaves in.
_BESIDE = [
    *("skill", "agent", "list_agents", "send_message", "task_stop"),
    *("get_goal", "update_goal", "tool_search", "tool_call"),
]

# Without a saved conversation there is nothing to continue.
_CONTINUE = 'resume=; [ -z "$HEREDITY_ANEW" ] && ls "$HOME"/.qwen/projects/*/chats/*.jsonl >/dev/null 2>&1 && resume=--continue; '


@dataclass(frozen=True, slots=True)
class QwenCode:
    """Starts Qwen Code; its JSON stream ends with its usage."""

    name: str = "qwen-code"
    program: Program = PROGRAM
    takes: Takes = _TAKES

    def launch(self, prompt: str, model: str = "", options: LaunchOptions = LaunchOptions()) -> Launch:  # noqa: B008 - frozen
        """Return how to start it (see `Launcher.launch`)."""
        start, words = self._prepared(model, options)
        words += ["--yolo", "--output-format", "stream-json"]
        return Launch(
            f"{start}exec {shlex.join([*words, prompt])} </dev/null",
            _ENVIRONMENT,
            (self.program.folder,),
            events=self.name,
            again=f'{start}{_CONTINUE}exec {shlex.join(words)} $resume "$HEREDITY_PROMPT" </dev/null',
        )

    def serve(self, model: str = "", options: LaunchOptions = LaunchOptions()) -> Launch:  # noqa: B008 - frozen
        """Return how to start it as a server of the Agent Client Protocol (see `acp.Server`)."""
        start, words = self._prepared(model, options)
        return Launch(f"{start}exec {shlex.join([*words, '--acp'])}", _ENVIRONMENT, (self.program.folder,))

    def _prepared(self, model: str, options: LaunchOptions) -> tuple[str, list[str]]:
        options.check(self.name, self.takes)
        named, interface = model or options.account_model, _INTERFACES.get(options.provider, "openai")
        words = [*self.program.words(), "--auth-type", interface, *(["--model", named] if named else [])]
        return HOME + home_file(".qwen/settings.json", json.dumps(_settings(interface, bool(model), options))), words


_ENVIRONMENT = {"QWEN_CODE_SUPPRESS_YOLO_WARNING": "1"}


def _settings(interface: str, broker: bool, options: LaunchOptions) -> dict[str, Any]:
    # Its default timeout is shorter than a broker's retries.
    generation: dict[str, Any] = {"timeout": 3_600_000}
    if options.effort:
        generation["reasoning"] = {"effort": options.effort}
    tools: dict[str, Any] = {}
    if options.profile != "full":
        tools = {"core": _TOOLS[options.profile], "disabled": _BESIDE}
    return {
        "security": {"auth": {"selectedType": interface}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
        "model": {"generationConfig": generation},
        "tools": tools,
    }
