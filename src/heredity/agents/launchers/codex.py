"""The Codex CLI, run unattended."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from heredity.agents.launchers.contract import Launch, LaunchOptions, Takes, own_logins
from heredity.agents.launchers.programs import Build, NpmProgram, Program

PROGRAM = NpmProgram(
    "codex",
    "0.169.0",
    {
        "x86_64": Build(
            "@openai/codex",
            "0.169.0-linux-x64",
            "sha512-o05NyAOCDygSPRo1yinzxvkRSdmsZyBD9E7mbpmjRanSfM8lypqWtQgEo4XfNkwhuCR2aFu8mlGOsQGFXVbVww==",
            "vendor/x86_64-unknown-linux-musl/bin/codex",
        ),
        "aarch64": Build(
            "@openai/codex",
            "0.169.0-linux-arm64",
            "sha512-NZ/DaQUpcQmxmqee7Z9uC1rzw3GhSbooawcaTe1LN5Yk+WlinUKGdTXJgClRT/9ogQEEM9TWxYzvxPfj5G/xFg==",
            "vendor/aarch64-unknown-linux-musl/bin/codex",
        ),
    },
)

# The shell fills in the address: in a sandbox only its relay knows it.
_PROVIDER = (
    '-c model_provider=heredity -c "model_providers.heredity={name=\\"heredity\\",base_url=\\"$OPENAI_BASE_URL\\",'
    'env_key=\\"OPENAI_API_KEY\\",wire_api=\\"responses\\",stream_idle_timeout_ms=3600000}"'
)

_TAKES = Takes(("minimal", "low", "medium", "high", "xhigh"), ("full", "coding"), account_model=True, login=True)

# Web search runs at its vendor: behind a broker a model would invent the results.
_NO_SEARCH = "-c 'web_search=\"disabled\"'"

_BESIDE_CODING = "apps goals image_generation multi_agent plugins skill_search sleep_tool tool_suggest view_image"
"""Features whose tools are neither a shell nor patches of files."""

# Without a saved session there is nothing to resume.
_RESUME = (
    'export HOME="$HEREDITY_WORKSPACE/.home"; resume=; '
    '[ -z "$HEREDITY_ANEW" ] && find "$HOME/.codex/sessions" -name "*.jsonl" 2>/dev/null | grep -q . && resume="resume --last"; '
)


@dataclass(frozen=True, slots=True)
class Codex:
    """Starts the Codex CLI; each of its turns ends with its usage."""

    name: str = "codex"
    program: Program = PROGRAM
    takes: Takes = _TAKES

    def launch(self, prompt: str, model: str = "", options: LaunchOptions = LaunchOptions()) -> Launch:  # noqa: B008 - frozen
        """Return how to start it (see `Launcher.launch`)."""
        options.check(self.name, self.takes)
        # Its built-in sandbox needs namespaces, which ours does not allow.
        words = ["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
        start = shlex.join([*self.program.words(), *words])
        named = model or options.account_model
        start += f" --model {shlex.quote(named)}" if named else ""
        start += f" {_PROVIDER}" if model else ""
        start += f" -c model_reasoning_effort={options.effort}" if options.effort else ""
        start += f" {_NO_SEARCH}" if model or options.profile == "coding" else ""
        if options.profile == "coding":
            start += "".join(f" --disable {feature}" for feature in _BESIDE_CODING.split())
        return Launch(
            f'HOME="$HEREDITY_WORKSPACE/.home" exec {start} {shlex.quote(prompt)} </dev/null',
            read_only=(self.program.folder,),
            events=self.name,
            again=f'{_RESUME}exec {start} $resume "$HEREDITY_PROMPT" </dev/null',
            logins=own_logins(self.name, "run: codex login", ".codex/auth.json") if options.login else {},
        )
