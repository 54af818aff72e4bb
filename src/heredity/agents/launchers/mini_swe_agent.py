"""mini-swe-agent, run unattended."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from heredity.agents.launchers.contract import Launch, LaunchOptions, Takes
from heredity.agents.launchers.programs import PipProgram, Program

# Later versions of litellm need `mcp` as soon as a request offers tools, without declaring it.
_REQUIREMENTS = """
aiohappyeyeballs==2.7.1 aiohttp==3.14.5 aiosignal==1.4.0 annotated-doc==0.0.7 annotated-types==0.8.0 anyio==4.16.0
attrs==26.1.0 certifi==2026.10.18 charset-normalizer==3.5.2 click==8.5.1 distro==1.9.0 fastuuid==0.14.0
filelock==3.32.7 frozenlist==1.8.0 fsspec==2026.9.0 h11==0.16.0 h2==4.4.1 hpack==4.2.0 httpcore==1.0.9 httpx==0.28.1
huggingface_hub==1.33.0 hyperframe==6.1.0 idna==3.20 importlib_metadata==8.9.0 Jinja2==3.1.6 jiter==0.19.0
jsonschema==4.26.0 jsonschema-specifications==2025.9.1 linkify-it-py==2.2.0 litellm==1.81.0 markdown-it-py==4.3.0
MarkupSafe==3.0.4 mdit-py-plugins==0.7.0 mdurl==0.1.2 mini-swe-agent==2.4.6 multidict==7.2.1 openai==2.54.0
packaging==26.3 platformdirs==4.14.5 prompt_toolkit==3.0.53 propcache==0.5.4 pydantic==2.14.3
pydantic-settings==2.16.3 pydantic_core==2.50.4 Pygments==2.21.0 python-dotenv==1.2.4 PyYAML==6.0.3
referencing==0.37.0 regex==2026.11.15 requests==2.34.2 rich==15.0.0 rpds-py==2026.9.1 shellingham==1.5.4
sniffio==1.3.1 tenacity==9.2.1 textual==8.2.8 tiktoken==0.14.0 tokenizers==0.23.3 tqdm==4.70.1 typer==0.29.2
typing-inspection==0.4.5 typing_extensions==4.16.0 urllib3==2.8.0 wcwidth==0.9.4 yarl==1.25.1 zipp==4.1.2
"""

PROGRAM = PipProgram("mini-swe-agent", "2.4.6", tuple(_REQUIREMENTS.split()), "minisweagent.run.mini")
"""Without `datasets` and its dependencies, which only its benchmarks use."""

_ENVIRONMENT = {
    "MSWEA_CONFIGURED": "true",
    "MSWEA_SILENT_STARTUP": "1",
    # It refuses to continue without a model's prices; the broker counts costs.
    "MSWEA_COST_TRACKING": "ignore_errors",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
}

# It has no tool but a shell.
_TAKES = Takes(("minimal", "low", "medium", "high", "xhigh", "max"), ("full", "coding", "shell"), account_model=True)

_COMMAND_S = 7200
"""Timeout of one of its commands, in seconds: a submission may exceed its default of 30 seconds."""


@dataclass(frozen=True, slots=True)
class MiniSweAgent:
    """Starts mini-swe-agent; it prints no events, and saves its conversation in `.home/mini.traj.json`."""

    name: str = "mini-swe-agent"
    program: Program = PROGRAM
    takes: Takes = _TAKES

    def launch(self, prompt: str, model: str = "", options: LaunchOptions = LaunchOptions()) -> Launch:  # noqa: B008 - frozen
        """Return how to start it (see `Launcher.launch`). Without `model`, `MSWEA_MODEL_NAME` names its model."""
        options.check(self.name, self.takes)
        words = [*self.program.words(), "-m", "minisweagent.run.mini", "--yolo", "--exit-immediately"]
        words += ["--cost-limit", "0", "-c", "mini.yaml", "-c", f"environment.timeout={_COMMAND_S}"]
        words += ["-c", f"model.model_kwargs.reasoning_effort={options.effort}"] if options.effort else []
        named = f"openai/{model}" if model else options.account_model
        words += ["--model", named] if named else []
        own = 'HOME="$HEREDITY_WORKSPACE/.home" MSWEA_GLOBAL_CONFIG_DIR="$HEREDITY_WORKSPACE/.home"'
        end = '--output "$HEREDITY_WORKSPACE/.home/mini.traj.json" </dev/null'
        # It cannot resume a conversation: its prompt says what remains, and it starts anew in its workspace.
        again = f'{own} exec {shlex.join(words)} --task "$HEREDITY_PROMPT" {end}'
        first = f"{own} exec {shlex.join([*words, '--task', prompt])} {end}"
        return Launch(first, _ENVIRONMENT, (self.program.folder,), again=again)
