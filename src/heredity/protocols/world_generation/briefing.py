"""What an outside author reads when it starts: `AGENTS.md` and the theme."""

from __future__ import annotations

from heredity.protocols.world_generation import stages
from heredity.resources import SourceTree
from heredity.server.terms import Briefing, RunTerms


def task_text(terms: RunTerms) -> str:
    """Return the theme in Markdown, as `GET /task` and `TASK.md` give it."""
    return terms.taskset.description


def agent_text(terms: RunTerms) -> str:
    """Return `AGENTS.md`: the goal, the budget, how to build, how to read what gates found, and how a world is written."""
    digits = "N" * terms.width
    world, gates = terms.taskset.public["world"], ", ".join(terms.taskset.public["gates"])
    return f"""# Make a world named `{world}`

`TASK.md` holds a theme. Write a small text world on it as `system/world.yaml`, with `meta.name` `{world}`. Begin with
`system/design.md`, a page that says what the world is; both are kept with every build.

You may build **{terms.episode_budget} times**. A build makes the levels and executes the gates {gates}:

```sh
heredity submit --episodes 0
```

What was found stands in `feedback/submit_{digits}/episodes/ep_{digits}/stdout.txt`; the score is the share of these gates that
passed. Mend what was found and build again until all of them pass, then end with `heredity finish`. The last of the best builds
then meets all gates from seeds that nobody knows, with others that tell you nothing: players of different strength, and the worlds
that there are already. It is admitted if nothing is found.

Nothing but rules is built: no code is run, and `levels.json` is made from the rules. There is no network.

{stages.guide()}"""


BRIEFING = Briefing(agent_text, task_text, SourceTree({}))
