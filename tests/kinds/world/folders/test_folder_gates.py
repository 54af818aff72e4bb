from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.kinds.world.folders.folders import BAKERY, written

from heredity._core.errors import HeredityError
from heredity.engine.programs import SandboxedPrograms
from heredity.kinds.world.folders.audit import KINDS, LEFT_OUT, admit_folder
from heredity.kinds.world.folders.folder import WorldFolder
from heredity.kinds.world.gates.admit import GATES
from heredity.sandbox import isolation

try:
    isolation.resolve()
except HeredityError:
    pytest.skip("programs cannot be confined on this machine", allow_module_level=True)

pytestmark = pytest.mark.asyncio(loop_scope="module")

HONEST = {
    "env_main.py": BAKERY["env_main.py"]
    .replace(
        'state["loaves"] += given.get("amount", 0)',
        'state["loaves"] += given["amount"] if given.get("amount") in (1, 2, 3) else 0',
    )
    .replace('given.get("buyer") in state["buyers"]', 'str(given.get("buyer")) in state["buyers"]')
    .replace(
        'state["sold"] += random.random() > 0.3', 'self.gain, state["sold"] = state["sold"] < 3, state["sold"] + 1'
    )
    .replace("self.tasted = name", "self.gain, self.tasted = False, name")
    .replace(
        'paid = 1.0 if self._state["sold"] and action["action"] not in ("bake", "taste") else 0.0',
        "paid = 1.0 if self.gain else 0.0",
    )
    .replace("0.25 * self.tasted", "0")
    .replace(
        'self._state, self._t, self.rye = yaml.safe_load(open(f"./levels/{world_id}.yaml")), 0, False',
        'made = {"loaves": seed, "sold": 0, "tasted": 0, "oven": "warm", "buyers": {"Di": 1}, "seed": seed}\n'
        '        self._state, self._t = yaml.safe_load(open(f"./levels/{world_id}.yaml")) if world_id else made, 0',
    ),
    "env_generate.py": "",
    "levels/level_02.yaml": "{loaves: 1, sold: 0, tasted: 0, oven: warm, buyers: {Ada: 1}, seed: 12}",
    "levels/level_03.yaml": "{loaves: 2, sold: 0, tasted: 0, oven: warm, buyers: {Bo: 1}, seed: 13}",
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def programs() -> AsyncIterator[SandboxedPrograms]:
    async with SandboxedPrograms(2) as running:
        yield running


async def test_a_folder_is_rejected_by_the_gates_that_its_faults_are_a_matter_of(
    programs: SandboxedPrograms, tmp_path: Path
) -> None:
    admission = await admit_folder(written(BAKERY, tmp_path / "bakery"), programs, steps=600)
    gates = {report.gate: report for report in admission.gates}
    assert list(gates) == list(GATES)
    assert not admission.admitted
    assert {"invalid-income", "farmable", "unbounded-amount"} <= {finding.kind for finding in gates["reward"].findings}
    assert {"duplicate", "bound-beaten"} <= {finding.kind for finding in gates["levels"].findings}
    assert gates["format"].passed
    assert gates["reliability"].passed  # faults or not, who searches is paid more than chance
    assert (
        {name for name, report in gates.items() if report.left_out}
        == set(LEFT_OUT)
        == set(GATES) - {*KINDS, "reliability"}
    )
    value = json.loads(json.dumps(admission.to_json()))
    assert [gate["passed"] for gate in value["gates"] if "left_out" in gate] == [None, None]
    trace = next(f["trace"] for g in value["gates"] for f in g.get("findings", ()) if f["kind"] == "invalid-income")
    assert trace["level"]
    assert len(trace["actions"]) == 12


async def test_a_clean_folder_is_admitted_and_its_certificate_is_no_part_of_it(
    programs: SandboxedPrograms, tmp_path: Path
) -> None:
    folder = written({**BAKERY, **HONEST}, tmp_path / "bakery")
    admission = await admit_folder(folder, programs, steps=200)
    assert [finding for report in admission.gates for finding in report.findings] == []
    assert admission.admitted
    before = WorldFolder(folder).digest
    admission.write(folder)
    assert (folder / "certificate.json").is_file()
    assert WorldFolder(folder).digest == before
    again = await admit_folder(folder, programs, steps=200)
    assert again.to_json() == admission.to_json()
