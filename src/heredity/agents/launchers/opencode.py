"""OpenCode, run unattended."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heredity.agents.launchers.contract import HOME, Launch, LaunchOptions, Takes, own_logins
from heredity.agents.launchers.programs import Build, NpmProgram, Program

PROGRAM = NpmProgram(
    "opencode",
    "1.18.18",
    {
        "x86_64": Build(
            "opencode-linux-x64",
            "1.18.18",
            "sha512-WmeUnhljYJ252wywKTiW4bNDzsas2njpjPUEh0jM6HKNI4vFxJtREtzaWViY4AKEAcOkLWT8Ll17ixvcHz3AnA==",
            "bin/opencode",
        ),
        "aarch64": Build(
            "opencode-linux-arm64",
            "1.18.18",
            "sha512-e8D3g0qJEIzawEg2+ygW3vkZjAYL2ssyAx4GbihjwXwZFvlZZy5zRWWzdz5KLBoHSTl0FB73vNtnNeXONyHpVQ==",
            "bin/opencode",
        ),
    },
)

_INTERFACES = {
    "anthropic": ("@ai-sdk/anthropic", "{env:ANTHROPIC_BASE_URL}/v1", "{env:ANTHROPIC_API_KEY}"),
    "openai": ("@ai-sdk/openai", "{env:OPENAI_BASE_URL}", "{env:OPENAI_API_KEY}"),
    "google": ("@ai-sdk/google", "{env:GOOGLE_GEMINI_BASE_URL}/v1beta", "{env:GEMINI_API_KEY}"),
}
_COMPATIBLE = ("@ai-sdk/openai-compatible", "{env:OPENAI_BASE_URL}", "{env:OPENAI_API_KEY}")

_BUDGETS = {"low": 4_000, "medium": 10_000, "high": 24_000, "max": 31_999}
"""Thinking tokens of Anthropic's models, below the 32,000 of an answer."""

_TAKES = Takes(
    ("minimal", "low", "medium", "high", "xhigh", "max"),
    ("full", "coding", "shell"),
    account_model=True,
    login=True,
)

_WITHOUT = {
    "coding": ("webfetch", "websearch", "codesearch", "task", "skill", "todowrite", "question"),
    "shell": (
        *("webfetch", "websearch", "codesearch", "task", "skill", "todowrite", "question"),
        *("read", "write", "edit", "apply_patch", "glob", "grep", "list"),
    ),
}

_ENVIRONMENT = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
}

# Without a saved conversation there is nothing to continue.
_CONTINUE = (
    'resume=; [ -z "$HEREDITY_ANEW" ] && [ -e "$HOME/.local/share/opencode/opencode.db" ] && resume=--continue; '
)


@dataclass(frozen=True, slots=True)
class OpenCode:
    """Starts OpenCode; each of its steps ends with its usage."""

    name: str = "opencode"
    program: Program = PROGRAM
    takes: Takes = _TAKES

    def launch(self, prompt: str, model: str = "", options: LaunchOptions = LaunchOptions()) -> Launch:  # noqa: B008 - frozen
        """Return how to start it (see `Launcher.launch`)."""
        named, environment = self._prepared(model, options)
        words = [*self.program.words(), "run", "--format", "json", "--auto", *(["--model", named] if named else [])]
        # With a title it asks no model for one.
        first = shlex.join([*words, "--title", "heredity", "--", prompt])
        return Launch(
            f"{HOME}exec {first} </dev/null",
            environment,
            (self.program.folder,),
            events=self.name,
            again=f'{HOME}{_CONTINUE}exec {shlex.join(words)} --title heredity $resume -- "$HEREDITY_PROMPT" </dev/null',
            logins=_logins(options),
        )

    def serve(self, model: str = "", options: LaunchOptions = LaunchOptions()) -> Launch:  # noqa: B008 - frozen
        """Return how to start it as a server of the Agent Client Protocol (see `acp.Server`)."""
        _, environment = self._prepared(model, options)
        command = f"{HOME}exec {shlex.join([*self.program.words(), 'acp'])}"
        return Launch(command, environment, (self.program.folder,), logins=_logins(options))

    def _prepared(self, model: str, options: LaunchOptions) -> tuple[str, dict[str, str]]:
        options.check(self.name, self.takes)
        named = f"heredity/{model}" if model else options.account_model
        config: dict[str, Any] = {"autoupdate": False, "share": "disabled", "permission": {"*": "allow"}}
        if options.profile != "full":
            config["tools"] = dict.fromkeys(_WITHOUT[options.profile], False)
        if named:
            config["model"] = config["small_model"] = named
        if model:
            package, address, key = _INTERFACES.get(options.provider, _COMPATIBLE)
            own = {"name": model, "limit": {"context": 200_000, "output": 32_000}, **_reasoning(options)}
            config["provider"] = {
                "heredity": {
                    "npm": package,
                    "name": "heredity",
                    # Its default timeout is shorter than a broker's retries.
                    "options": {"baseURL": address, "apiKey": key, "timeout": False},
                    "models": {model: own},
                }
            }
        return named, {**_ENVIRONMENT, "OPENCODE_CONFIG_CONTENT": json.dumps(config)}


def _reasoning(options: LaunchOptions) -> dict[str, Any]:
    if not options.effort:
        return {}
    if options.provider == "anthropic":
        budget = _BUDGETS.get({"minimal": "low", "xhigh": "max"}.get(options.effort, options.effort))
        return {"reasoning": True, "options": {"thinking": {"type": "enabled", "budgetTokens": budget}}}
    if options.provider == "google":
        return {
            "reasoning": True,
            "options": {"thinkingConfig": {"thinkingLevel": options.effort, "includeThoughts": True}},
        }
    return {"reasoning": True, "options": {"reasoningEffort": options.effort}}


def _logins(options: LaunchOptions) -> Mapping[str, Path]:
    if not options.login:
        return {}
    return own_logins("opencode", "run: opencode auth login", ".local/share/opencode/auth.json")
