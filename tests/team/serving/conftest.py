"""A team of scripted models: two steps at once, then one that needs both."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from heredity.team.serving.office import Office
from heredity.team.settings import TeamSettings, load_team

PLANNER = r"""
[[rule]]
when = { user = 's3 \(writer\), done(.|\n)*?gave: (?P<what>.*)' }
reply = '{"finished": true, "result": "${what}"}'

[[rule]]
when = { any = "Steps so far, after 0 rounds" }
reply = '''
{"note": "two at once", "steps": [
  {"id": "s1", "agent": "reader", "task": "Read one"},
  {"id": "s2", "agent": "reader", "task": "Read two"},
  {"id": "s3", "agent": "writer", "task": "Put both together", "after": ["s1", "s2"]}]}'''
"""
READER = """
[[rule]]
when = { user = "slowly" }
[rule.reply]
text = "read"
delay_s = 30

[[rule]]
when = { user = "Read (?P<which>one|two|three)" }
[rule.reply]
text = "read ${which}"
delay_s = 0.05
"""
WRITER = r"""
[[rule]]
when = { user = 'read one(.|\n)*read (?P<second>two|three)' }
reply = "one and ${second} <b>bold</b>"
"""
TEAM = """
[planner]
model = "scripted/{0}/planner.toml"

[agents.reader]
description = "reads"
model = "scripted/{0}/reader.toml"

[agents.writer]
description = "writes"
model = "scripted/{0}/writer.toml"
"""
ANSWER = "one and two <b>bold</b>"


def write_team(folder: Path) -> Path:
    """Write a team.toml with its scripts into a folder."""
    for name, text in (("planner", PLANNER), ("reader", READER), ("writer", WRITER), ("team", TEAM.format(folder))):
        (folder / f"{name}.toml").write_text(text)
    return folder / "team.toml"


@pytest.fixture
def settings(tmp_path: Path) -> TeamSettings:
    return load_team(write_team(tmp_path))


@pytest.fixture
async def office(settings: TeamSettings, tmp_path: Path) -> AsyncIterator[Office]:
    async with Office(settings, tmp_path / "tasks") as opened:
        yield opened
