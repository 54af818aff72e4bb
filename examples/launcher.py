"""A launcher of a coding agent, as a package registers it under the entry point group `heredity.launchers`."""

import shlex
from pathlib import Path

from heredity.agents.launchers import Launch, LaunchOptions, Takes

DEFAULTS = LaunchOptions()


class Aider:
    name = "aider"
    takes = Takes(efforts=("low", "medium", "high"))

    def launch(self, prompt: str, model: str = "", options: LaunchOptions = DEFAULTS) -> Launch:
        options.check(self.name, self.takes)
        effort = f"--reasoning-effort {options.effort}" if options.effort else ""
        asked = f"--model openai/{model}" if model else ""
        return Launch(
            f"exec /opt/aider/bin/aider --yes {effort} {asked} -m {shlex.quote(prompt)}",
            {"AIDER_ANALYTICS": "0"},
            (Path("/opt/aider"),),
        )


started = Aider().launch("Read AGENTS.md and do what it says.", "gpt-5")
print(started.command)
