"""Gemini CLI, run unattended."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import Any

from heredity.agents.launchers.contract import HOME, Launch, LaunchOptions, Takes, home_file, own_logins
from heredity.agents.launchers.programs import NODE, Build, NpmProgram, Program

PROGRAM = NpmProgram(
    "gemini-cli",
    "0.61.0",
    NODE,
    Build(
        "@google/gemini-cli",
        "0.61.0",
        "sha512-dbQ9A0qBtFJNi6XBkHvfZ6Azpn6PNgH/P8h2MZ67RLlX8hSAVjup39CRWqdRxZv7YXIuhrFaytr8y0jKnkoxnQ==",
        "bundle/gemini.js",
    ),
)

_BUDGETS = {"low": 1024, "medium": 8192, "high": 24576}
"""Thinking tokens of models before version 3, which take a number; later ones take a level."""

_TAKES = Takes(("low", "medium", "high"), ("full", "coding", "shell"), account_model=True, login=True)

_TOOLS = {
    "coding": ["list_directory", "read_file", "grep_search", "glob", "replace", "write_file", "run_shell_command"],
    "shell": ["run_shell_command"],
}

# They run at their vendor: behind a broker a model would invent the results.
_VENDOR_TOOLS = ["google_web_search", "web_fetch"]

# Without a saved conversation there is nothing to resume.
_RESUME = 'resume=; [ -z "$HEREDITY_ANEW" ] && ls "$HOME"/.gemini/tmp/*/chats/*.json* >/dev/null 2>&1 && resume="--resume latest"; '


@dataclass(frozen=True, slots=True)
class GeminiCli:
    """Starts Gemini CLI; its JSON stream ends with its usage."""

    name: str = "gemini-cli"
    program: Program = PROGRAM
    takes: Takes = _TAKES

    def launch(self, prompt: str, model: str = "", options: LaunchOptions = LaunchOptions()) -> Launch:  # noqa: B008 - frozen
        """Return how to start it (see `Launcher.launch`)."""
        named, words = self._prepared(model, options)
        words += ["--yolo", "--output-format", "stream-json"]
        start = HOME + home_file(".gemini/settings.json", json.dumps(_settings(bool(model), named, options)))
        return Launch(
            f"{start}exec {shlex.join([*words, '--prompt', prompt])} </dev/null",
            read_only=(self.program.folder,),
            events=self.name,
            again=f'{start}{_RESUME}exec {shlex.join(words)} $resume --prompt "$HEREDITY_PROMPT" </dev/null',
            logins=_logins(options),
        )

    def serve(self, model: str = "", options: LaunchOptions = LaunchOptions()) -> Launch:  # noqa: B008 - frozen
        """Return how to start it as a server of the Agent Client Protocol (see `acp.Server`)."""
        named, words = self._prepared(model, options)
        start = HOME + home_file(".gemini/settings.json", json.dumps(_settings(bool(model), named, options)))
        command = f"{start}exec {shlex.join([*words, '--acp'])}"
        return Launch(command, read_only=(self.program.folder,), logins=_logins(options))

    def _prepared(self, model: str, options: LaunchOptions) -> tuple[str, list[str]]:
        options.check(self.name, self.takes)
        named = model or options.account_model
        return named, [*self.program.words(), "--skip-trust", *(["--model", named] if named else [])]


def _logins(options: LaunchOptions) -> Any:
    if not options.login:
        return {}
    return own_logins(
        "gemini-cli", "start gemini and log in", ".gemini/oauth_creds.json", ".gemini/google_accounts.json"
    )


def _settings(broker: bool, model: str, options: LaunchOptions) -> dict[str, Any]:
    tools: dict[str, Any] = {"shell": {"inactivityTimeout": 0}, **({"exclude": _VENDOR_TOOLS} if broker else {})}
    if options.profile != "full":
        tools["core"] = _TOOLS[options.profile]
    settings: dict[str, Any] = {
        "security": {"auth": {"selectedType": "oauth-personal" if options.login else "gemini-api-key"}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
        "tools": tools,
    }
    generation: dict[str, Any] = {}
    if broker and options.provider != "google":
        # Other providers' models do not take it.
        generation["topK"] = None
    if options.effort:
        older = model.startswith(("gemini-1", "gemini-2"))
        thinking = {"thinkingBudget": _BUDGETS[options.effort]} if older else {"thinkingLevel": options.effort.upper()}
        generation["thinkingConfig"] = thinking
    if generation:
        override = {"modelConfig": {"generateContentConfig": generation}}
        settings["modelConfigs"] = {"customOverrides": [{"match": {"model": model} if model else {}, **override}]}
    return settings
