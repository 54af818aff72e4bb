"""Claude Code, run unattended."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from heredity.agents.launchers.contract import Launch, LaunchOptions, Takes, own_logins
from heredity.agents.launchers.programs import Build, NpmProgram, Program

PROGRAM = NpmProgram(
    "claude-code",
    "2.1.330",
    {
        "x86_64": Build(
            "@anthropic-ai/claude-code-linux-x64",
            "2.1.330",
            "sha512-9Gn+V7DtJ8M1nztP9CeDVl9g3RtrepI7rOFTyPRRnZe8D6zebIHKmC7OvBauucuAP0X0k85SDN/LPVZyjsGezQ==",
            "claude",
        ),
        "aarch64": Build(
            "@anthropic-ai/claude-code-linux-arm64",
            "2.1.330",
            "sha512-V4yanAY5EA5UpwwRPtjSfqDbNqAlUJeVn3NYZw2AgmRHjdpSsLtHAzbxRXfkAnbjwTXzE0uedjQxUY02ARPcsA==",
            "claude",
        ),
    },
)

_ENVIRONMENT = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    # The sandbox replaces its permission prompts, and without this setting it refuses to run as root.
    "IS_SANDBOX": "1",
    # A submission may take longer than the default timeout of a command, two minutes.
    "BASH_DEFAULT_TIMEOUT_MS": "1800000",
    "BASH_MAX_TIMEOUT_MS": "7200000",
    # Its default of ten minutes is shorter than a broker's retries.
    "API_TIMEOUT_MS": "3600000",
}

_TAKES = Takes(("low", "medium", "high", "xhigh", "max"), ("full", "coding", "shell"), account_model=True, login=True)
_TOOLS = {"coding": "Bash,Edit,Glob,Grep,Read,Write", "shell": "Bash"}

# `--continue` fails without a saved conversation.
_AGAIN = (
    'export HOME="$HEREDITY_WORKSPACE/.home"; resume=; '
    '[ -z "$HEREDITY_ANEW" ] && ls "$HOME"/.claude/projects/*/*.jsonl >/dev/null 2>&1 && resume=--continue; '
    'exec {command} $resume "$HEREDITY_PROMPT" </dev/null'
)


@dataclass(frozen=True, slots=True)
class ClaudeCode:
    """Starts Claude Code; its JSON stream ends with its usage."""

    name: str = "claude-code"
    program: Program = PROGRAM
    takes: Takes = _TAKES

    def launch(self, prompt: str, model: str = "", options: LaunchOptions = LaunchOptions()) -> Launch:  # noqa: B008 - frozen
        """Return how to start it (see `Launcher.launch`)."""
        options.check(self.name, self.takes)
        command = [*self.program.words(), "--print", "--output-format", "stream-json", "--verbose"]
        command += ["--dangerously-skip-permissions"]
        # Web search runs at its vendor: behind a broker a model would invent the results.
        command += ["--disallowed-tools=WebSearch"] if model else []
        named = model or options.account_model
        command += ["--model", named] if named else []
        command += ["--effort", options.effort] if options.effort else []
        command += [f"--tools={_TOOLS[options.profile]}"] if options.profile != "full" else []
        own = {"ANTHROPIC_DEFAULT_HAIKU_MODEL": model} if model else {}
        login = own_logins(self.name, "start claude and log in", ".claude/.credentials.json") if options.login else {}
        return Launch(
            f'HOME="$HEREDITY_WORKSPACE/.home" exec {shlex.join([*command, prompt])} </dev/null',
            {**_ENVIRONMENT, **own},
            (self.program.folder,),
            events=self.name,
            again=_AGAIN.format(command=shlex.join(command)),
            logins=login,
        )
