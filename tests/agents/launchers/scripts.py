"""Scripted models that drive real coding agents through a run: each step is recognised by what the last one printed."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

BALANCED = """\
class Policy:
    def __init__(self, obs_space, action_space, env_meta):
        pass

    def reset(self, episode_index):
        pass

    def act(self, obs):
        return int(obs[2] + 0.5 * obs[3] > 0)
"""
"""Keeps the pole of CartPole up."""

LEFT = BALANCED.replace("int(obs[2] + 0.5 * obs[3] > 0)", "0")

Call = tuple[str, dict[str, Any]]


def steps(secret: Path, port: int) -> list[str]:
    """The commands of an agent that reads, tries to get out, writes a bad policy, submits, reads, improves, submits, ends.

    Args:
        secret: a file of the host, which it tries to read.
        port: of the host, which it tries to reach.
    """
    reach = f"import socket; socket.create_connection((\\'127.0.0.1\\', {port}), 3); print(\\'REACHED\\')".replace(
        "\\'", "'"
    )
    return [
        "head -3 AGENTS.md; heredity info | head -3",
        f'cat {secret} > probe.txt 2>&1; python3 -c "{reach}" >> probe.txt 2>&1; curl -sS -m 3 http://1.1.1.1 >> probe.txt 2>&1; '
        "env | grep -c HOST_SECRET >> probe.txt; touch bin/x >> probe.txt 2>&1",
        f"cat > system/policy.py <<'END'\n{LEFT}END",
        "heredity submit --episodes 0-1 --json --note left",
        "cat feedback/submit_*0/summary.json",
        f"cat > system/policy.py <<'END'\n{BALANCED}END",
        "heredity submit --episodes 0-1 --json --note balanced",
        "heredity finish",
    ]


def write_rules(path: Path, commands: Sequence[str], call: Callable[[str], Call], tool: str) -> None:
    """Write a scripted model that has commands run one after the other, then says that it is done.

    Args:
        path: of the TOML file.
        commands: for a shell.
        call: makes a call of the agent's shell tool.
        tool: the name of that tool; requests that do not offer it are answered in a word.
    """
    rules = [f'[[rule]]\nwhen = {{ any = "STEP {len(commands)} ENDED" }}\nreply = "All is done."\n']
    for number in reversed(range(len(commands))):
        when = {"tool": tool, **({"any": f"STEP {number} ENDED"} if number else {})}
        # In two words for the shell: what it prints must not stand in the command already.
        name, arguments = call(f"{commands[number]}\nprintf 'STEP %s ENDED\\n' {number + 1}")
        shown = ", ".join(f"{key} = {json.dumps(value)}" for key, value in when.items())
        reply = f'text = "Step {number + 1}."\ncalls = [{{ name = "{name}", arguments = {_table(arguments)} }}]\n'
        rules.append(f"[[rule]]\nwhen = {{ {shown} }}\n[rule.reply]\n{reply}")
    path.write_text("\n".join([*rules, '[[rule]]\nreply = "Yes."\n']))


def write_turns(path: Path, turns: Sequence[Call | str], tool: str) -> None:
    """Write a scripted model that takes one turn after the other: a call, or words, after which an agent ends.

    Which turn is next stands in the conversation alone: an agent that was started again and has lost it begins at the first.

    Args:
        path: of the TOML file; its name is the model's.
        turns: calls of the agent's tools, or words.
        tool: a tool that the agent offers; requests that do not offer it are answered in a word.
    """
    total = len(turns)
    rules = [f'[[rule]]\nwhen = {{ any = "^Turn {total} of {total}" }}\nreply = "All is done."\n']
    for number, turn in reversed(list(enumerate(turns, 1))):
        seen = f', any = "^Turn {number - 1} of {total}"' if number > 1 else ""
        words = json.dumps(
            f"Turn {number} of {total}" if isinstance(turn, tuple) else f"Turn {number} of {total}: {turn}"
        )
        calls = (
            f"calls = [{{ name = {json.dumps(turn[0])}, arguments = {_table(turn[1])} }}]\n"
            if isinstance(turn, tuple)
            else ""
        )
        rules.append(f'[[rule]]\nwhen = {{ tool = "{tool}"{seen} }}\n[rule.reply]\ntext = {words}\n{calls}')
    path.write_text("\n".join([*rules, '[[rule]]\nreply = "Yes."\n']))


def _table(value: dict[str, Any]) -> str:
    return "{ " + ", ".join(f"{key} = {json.dumps(text)}" for key, text in value.items()) + " }"
