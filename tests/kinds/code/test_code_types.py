"""Values of every type go into a program and come back as they were, in every language that is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.kinds.code.sums import FILES, write

from heredity.kinds.code.judge import Judge, Tests
from heredity.kinds.code.languages import LANGUAGES
from heredity.kinds.code.problem import problem
from heredity.kinds.code.toolchains import missing
from heredity.sandbox.bubblewrap_root import available
from heredity.sandbox.native import Bounds

if available() is not None:
    pytest.skip("programs cannot be confined on this machine", allow_module_level=True)

pytestmark = pytest.mark.asyncio(loop_scope="module")

FAST = ("python3", "javascript")
EVERY = [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in LANGUAGES]
VALUES: dict[str, list[Any]] = {
    "int": [0, -7, 2**53 - 1, 2**53 + 1, -(2**62)],
    "list[list[int]]": [[], [[1], [], [2**60, 3]]],
    "list[float]": [[0.5, -1e-9, 1e300]],
    "list[bool]": [[True, False]],
    "string": ["", "a\nb", "ünïcode ☃"],
    "list[string]": [[], ["x", "", "=answer="]],
    "tree": [[], [1, 2, None, None, 3], [2**60, None, -1]],
    "linked-list": [[], [3, 1, 2]],
}
CLERK = """
class BerthClerk {
  constructor(count) { this.free = Array.from({ length: count }, (_, i) => i + 1); this.at = new Map(); }
  arrive(ship) {
    if (!this.at.has(ship)) this.at.set(ship, this.free.length ? this.free.shift() : -1);
    const berth = this.at.get(ship);
    if (berth < 0) this.at.delete(ship);
    return berth;
  }
  leave(ship) {
    if (!this.at.has(ship)) return -1;
    const berth = this.at.get(ship);
    this.at.delete(ship);
    this.free.push(berth);
    this.free.sort((a, b) => a - b);
    return berth;
  }
}
"""


@pytest.mark.parametrize("name", EVERY)
async def test_values_come_back_as_they_went(name: str, judge: Judge, tmp_path: Path) -> None:
    language = LANGUAGES[name]
    if missing(language):
        pytest.skip(missing(language))
    kinds = list(VALUES)
    for kind in kinds if name in FAST else ["list[list[int]]", "tree"]:
        toml = FILES["problem.toml"].partition("[signature]")[0]
        toml += f'[signature]\nname = "same"\nparameters = {{ x = "{kind}" }}\nreturns = "{kind}"\n'
        asked = write(tmp_path / kind.replace("[", "-").replace("]", ""), **{"problem.toml": toml})
        starter = language.starter(asked.signature)
        body = "return x" + (";" if name in ("cpp", "java", "javascript") else "")
        source = starter.replace("{\n\n", f"{{\n{body}\n").replace("        ...", f"        {body}")
        assert body in source
        cases = [[value] for value in VALUES[kind]]
        answers = await judge.answers(asked, language, source, cases, Bounds(20.0, 60.0, 256 << 20))
        assert [answer if isinstance(answer, str) else answer[0] for answer in answers] == VALUES[kind], (name, kind)


async def test_a_class_in_javascript_is_called_in_sequence(judge: Judge) -> None:
    language = LANGUAGES["javascript"]
    if missing(language):
        pytest.skip(missing(language))
    asked = problem("berth-clerk")
    cases, expected = [one.case for one in asked.examples], [one.answer for one in asked.examples]
    judged = await judge.judge(asked, language, CLERK, Tests(cases, expected, len(cases), 0.0))
    assert judged.verdict == "PR", judged
