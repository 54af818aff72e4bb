from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from heredity._core.errors import ConfigError, RecordError
from heredity.agents.launchers import available
from heredity.experiments.config import resolve
from heredity.experiments.suite import open_suite, run_suite
from heredity.records import read_journal
from heredity.sandbox.gpus import NO_GPU, GpuMachine, GpuPool, Lease

UUIDS = ["GPU-aa", "GPU-bb", "GPU-????"]


@pytest.fixture
def machine(tmp_path: Path) -> GpuMachine:
    """Return a machine with three GPUs, whose device files are other names of harmless ones; one more is of another container."""
    listed, devices = tmp_path / "gpus", tmp_path / "dev"
    devices.mkdir()
    for number, uuid in enumerate([*UUIDS, "GPU-dd"]):
        folder = listed / f"0000:0{4 - number}:00.0"
        folder.mkdir(parents=True)
        (folder / "information").write_text(
            f"Model: \t\t Something\nGPU UUID: \t {uuid}\nBus Location: \t {folder.name}\nDevice Minor: \t {number}\n"
        )
    for name in ("nvidia0", "nvidia1", "nvidia2", "nvidiactl", "nvidia-uvm"):
        (devices / name).symlink_to("/dev/null")
    return GpuMachine(listed, devices, tmp_path / "locks")


def test_gpus_are_counted_by_their_place_on_the_bus(machine: GpuMachine) -> None:
    gpus = machine.detect()
    assert [(gpu.index, gpu.uuid, gpu.files[0].name) for gpu in gpus] == [
        (0, "", "nvidia2"), (1, "GPU-bb", "nvidia1"), (2, "GPU-aa", "nvidia0"),
    ]  # fmt: skip
    assert [path.name for path in gpus[0].files] == ["nvidia2", "nvidiactl", "nvidia-uvm"]


def test_a_gpu_is_named_by_number_or_uuid(machine: GpuMachine) -> None:
    assert {name: gpu.index for name, gpu in machine.select(["GPU-aa", "0"]).items()} == {"GPU-aa": 2, "0": 0}
    with pytest.raises(ConfigError, match=r"names '7', which does not exist; there are: 0, 1 \(GPU-bb\), 2 \(GPU-aa\)"):
        machine.select(["0", "7"])
    with pytest.raises(ConfigError, match="one GPU twice: 1, GPU-bb"):
        machine.select(["1", "GPU-bb"])


def test_where_there_is_none_that_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"engine\.gpus names '0', which does not exist; there are: none"):
        GpuPool(["0"], GpuMachine(tmp_path / "none", tmp_path, tmp_path / "locks"))


async def test_a_run_that_needs_none_waits_for_nothing(tmp_path: Path) -> None:
    async with GpuPool([], GpuMachine(tmp_path, tmp_path, tmp_path / "locks")).lease(0) as lease:
        assert lease is NO_GPU
        assert (lease.files, lease.environment(confined=False)) == ((), {})
    assert not (tmp_path / "locks").exists()


async def test_leases_are_exclusive_and_given_in_turn(machine: GpuMachine) -> None:
    pool, other = GpuPool(["0", "1"], machine), GpuPool(["1", "2"], machine)
    order: list[str] = []
    held: set[str] = set()

    async def work(name: str, of: GpuPool, count: int) -> None:
        async with of.lease(count) as lease:
            own = {gpu.bus_address for gpu in lease.gpus.values()}
            assert not held & own, "nobody else has one of them"
            held.update(own)
            order.append(f"{name} has {len(own)}")
            await asyncio.sleep(0.05)
            held.difference_update(own)

    everyone = (work("a", pool, 1), work("b", pool, 2), work("c", pool, 1), work("d", other, 2))
    await asyncio.wait_for(asyncio.gather(*everyone), 20)
    assert [line for line in order if not line.startswith("d")] == ["a has 1", "b has 2", "c has 1"]
    assert "d has 2" in order


async def test_a_process_that_dies_gives_its_gpus_back(machine: GpuMachine) -> None:
    source = f"""
import asyncio
from pathlib import Path
from heredity.sandbox.gpus import GpuMachine, GpuPool
async def main():
    machine = GpuMachine(Path({str(machine.listed)!r}), Path({str(machine.devices)!r}), Path({str(machine.locks)!r}))
    async with GpuPool(["0"], machine).lease(1):
        print("leased", flush=True)
        await asyncio.sleep(60)
asyncio.run(main())
"""
    process = subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, text=True)  # noqa: ASYNC220
    assert process.stdout is not None
    assert process.stdout.readline() == "leased\n"
    pool = GpuPool(["0"], machine)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2), pool.lease(1):
            pass
    process.kill()
    process.wait()
    process.stdout.close()
    async with asyncio.timeout(10), pool.lease(1) as lease:
        assert lease.names == ("0",)


async def test_more_than_are_named_are_refused(machine: GpuMachine) -> None:
    with pytest.raises(ConfigError, match=r"training\.gpus is 2, and engine\.gpus names 1"):
        async with GpuPool(["0"], machine).lease(2):
            pass


async def test_a_folder_of_locks_that_is_somebody_elses_is_refused(machine: GpuMachine, tmp_path: Path) -> None:
    (tmp_path / "else").mkdir()
    machine.locks.symlink_to(tmp_path / "else")
    with pytest.raises(RecordError, match="belongs to somebody else"):
        async with GpuPool(["0"], machine).lease(1):
            pass


def test_programs_that_see_everything_are_told_which_are_theirs(machine: GpuMachine) -> None:
    lease = Lease(machine.select(["2", "0"]))
    assert lease.environment(confined=False) == {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": "2,0"}
    assert lease.environment(confined=True) == {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    assert [path.name for path in lease.files] == ["nvidia0", "nvidiactl", "nvidia-uvm", "nvidia2"]


@pytest.mark.slow
def test_a_runs_agent_sees_its_own_gpus_and_no_others(machine: GpuMachine, tmp_path: Path) -> None:
    if (reason := available()) is not None:
        pytest.skip(reason)
    pytest.importorskip("torch")
    agent = tmp_path / "agent"
    agent.mkdir()
    (agent / "start.sh").write_text(f"""
ls {machine.devices} > output/seen
echo $CUDA_DEVICE_ORDER >> output/seen
for gpu in 7 1; do
  curl -s -X POST $GRADING_SERVER_URL/submit -d '{{"model_path": "models/characters-arithmetic", "gpu": '$gpu'}}'
done >> output/answers
""")
    config = resolve({
        "run": {"protocol": "post-training", "tasksets": ["posttraining/arithmetic"], "seeds": 2, "name": "leased"},
        "engine": {"gpus": ["1"], "parallel_runs": 2},
        "training": {"gpus": 1},
        "evolver": {"launcher": str(agent)},
        "budget": {"seconds": 20, "train_cases": 10}, "views": {"heldout": 10},
    })  # fmt: skip
    folder = tmp_path / "runs" / "suite"
    result = asyncio.run(run_suite(folder, open_suite(folder, config), machine=machine))
    assert result.failures == {}
    for run in sorted((folder / "runs").iterdir()):
        output = run / "workspace" / "output"
        assert (output / "seen").read_text().split() == ["nvidia-uvm", "nvidia1", "nvidiactl", "PCI_BUS_ID"]
        refused, graded = (output / "answers").read_text().split("}{")
        assert "the GPUs of this run are 1" in refused
        assert '"is_base_model":true' in graded
        events = read_journal(run / "journal.jsonl")
        assert [e.data for e in events if e.kind == "gpu.leased"] == [{"names": ["1"]}]
        assert events[0].data["posttraining"]["grading"]["engine"] == "transformers"
        assert json.loads((run / "workspace" / "run_meta.json").read_text())["gpus"] == ["1"]
