from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity._core.errors import CandidateError, ConfigError
from heredity.kinds.checkpoint.models import Checkpoint, candidate_of, checkpoint_of, inspect, snapshot
from heredity.kinds.checkpoint.models.checkpoint import holds_base
from heredity.kinds.checkpoint.models.tensors import encoded, read_header, write_tensors
from heredity.resources import Candidate, SourceTree

from .folders import EMBEDDING, HEAD, LAYER, NORM, checkpoint, save, weights, write_json


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "workspace" / "output").mkdir(parents=True)
    return tmp_path / "workspace"


@pytest.fixture
def base(tmp_path: Path) -> Checkpoint:
    return inspect(checkpoint(tmp_path / "base"))


@pytest.fixture
def trained(workspace: Path) -> Path:
    return checkpoint(workspace / "output" / "trained", weights(1))


def edit(path: Path, **changes: Any) -> None:
    value = json.loads(path.read_text())
    write_json(path, {**value, **changes})


def with_header(path: Path, header: dict[str, Any], data: bytes) -> None:
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def test_a_trained_checkpoint_is_accepted_and_said_what_it_is(trained: Path, workspace: Path, base: Checkpoint) -> None:
    inspected = inspect(trained, inside=workspace, base=base)
    assert inspected.digest != base.digest
    assert (inspected.parameters, inspected.bytes, inspected.architecture) == (44, 176, "LlamaForCausalLM")
    assert set(inspected.files) == {"config.json", "model.safetensors", "tokenizer.json"}
    assert inspected.metadata["tensors"][EMBEDDING] == [6, 4]


def test_the_untouched_base_keeps_its_digest_however_it_is_saved(workspace: Path, base: Checkpoint) -> None:
    copy = checkpoint(workspace / "copy")
    edit(copy / "config.json", transformers_version="9", use_cache=False, dtype="float32")
    edit(copy / "tokenizer.json", padding={"direction": "Left"}, truncation={"max_length": 3})
    (copy / "model.safetensors").unlink()
    arrays = weights()
    save(copy / "model-00001-of-00002.safetensors", {NORM: arrays[NORM]})
    save(copy / "model-00002-of-00002.safetensors", {LAYER: arrays[LAYER], EMBEDDING: arrays[EMBEDDING]})
    places = {NORM: "model-00001-of-00002.safetensors"} | dict.fromkeys(
        (LAYER, EMBEDDING), "model-00002-of-00002.safetensors"
    )
    write_json(copy / "model.safetensors.index.json", {"metadata": {}, "weight_map": places})
    inspected = inspect(copy, inside=workspace, base=base)
    assert inspected.digest == base.digest
    assert candidate_of(inspected) == candidate_of(base)
    assert len(inspected.files) == 5


@pytest.mark.parametrize("dtype", ["BF16", "F16", "F32"])
def test_floats_may_be_of_another_type_than_the_bases(workspace: Path, base: Checkpoint, dtype: str) -> None:
    inspected = inspect(checkpoint(workspace / dtype, dtype=dtype), inside=workspace, base=base)
    assert inspected.metadata["dtypes"] == {dtype: 3}
    assert (inspected.digest == base.digest) == (dtype == "F32")


def test_a_tied_output_layer_may_be_repeated_or_absent(workspace: Path, tmp_path: Path, base: Checkpoint) -> None:
    arrays = weights()
    repeated = checkpoint(workspace / "repeated", {**arrays, HEAD: arrays[EMBEDDING]})
    untied = checkpoint(workspace / "untied", {**arrays, HEAD: arrays[EMBEDDING] + 1})
    inspect(repeated, base=base)
    inspect(checkpoint(workspace / "absent"), base=inspect(repeated))
    with pytest.raises(CandidateError, match=r"lm_head\.weight differs from the embedding that the base ties it to"):
        inspect(untied, base=base)


def test_other_files_are_named_and_never_read(trained: Path, workspace: Path, base: Checkpoint) -> None:
    (trained / "training_args.bin").write_bytes(b"a pickle")
    os.symlink("/etc/passwd", trained / "optimizer.pt")
    (trained / "modeling_llama.py").write_text("raise SystemExit")
    inspected = inspect(trained, inside=workspace, base=base)
    assert inspected.ignored == ("modeling_llama.py", "optimizer.pt", "training_args.bin")


def no_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def pickled(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def link_of_file(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder.parent / "elsewhere")
    (folder / "model.safetensors").symlink_to(folder.parent / "elsewhere")


def link_of_folder(folder: Path) -> None:
    folder.rename(folder.parent / "elsewhere")
    folder.symlink_to(folder.parent / "elsewhere")


def pipe(folder: Path) -> None:
    (folder / "config.json").unlink()
    os.mkfifo(folder / "config.json")


def adapter(folder: Path) -> None:
    (folder / "config.json").rename(folder / "adapter_config.json")


def short(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-4])


def large(folder: Path) -> None:
    with (folder / "model.safetensors").open("ab") as file:
        file.truncate(80 << 20)


def broken_number(value: float, dtype: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        arrays = weights()
        arrays[LAYER][3, 3] = value
        save(folder / "model.safetensors", arrays, dtype)

    return change


def tensors(**changes: np.ndarray | None) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        arrays = {**weights(), **{name.replace("__", "."): array for name, array in changes.items()}}
        save(folder / "model.safetensors", {name: array for name, array in arrays.items() if array is not None})

    return change


def header(offsets: tuple[int, int], *, dtype: str = "F32", size: int = 32) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        first = {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}
        second = {"dtype": dtype, "shape": [4], "data_offsets": list(offsets)}
        with_header(folder / "model.safetensors", {"a": first, "b": second}, bytes(size))

    return change


def setting(file: str, **changes: Any) -> Callable[[Path], None]:
    return lambda folder: (
        edit(folder / file, **changes) if (folder / file).exists() else write_json(folder / file, changes)
    )


def index(**places: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / "model.safetensors").rename(folder / "model-1.safetensors")
        write_json(folder / "model.safetensors.index.json", {"metadata": {}, "weight_map": places})

    return change


REFUSALS: list[tuple[Callable[[Path], None], str]] = [
    (lambda f: (f / "config.json").unlink(), "trained has no config.json; submit a folder that save_pretrained wrote"),
    (lambda f: (f / "tokenizer.json").unlink(), "trained has no tokenizer.json; save the tokenizer beside the model"),
    (lambda f: (f / "config.json").write_text("{"), "config.json is no JSON"),
    (lambda f: (f / "config.json").write_text("[]"), "config.json holds a list; expected a JSON object"),
    (lambda f: (f / "config.json").write_text(" " * (2 << 20)), "config.json in trained is too large"),
    (no_weights, "trained has no model.safetensors; save the model with save_pretrained"),
    (pickled, "pytorch_model.bin in trained is a pickle, which can run code when it is loaded; save the weights as safetensors"),
    (link_of_file, "model.safetensors in trained is a link; copy the file itself into the folder"),
    (link_of_folder, "'trained' on the way to .* is a link; submit the folder itself"),
    (pipe, "config.json in trained is not a plain file"),
    (adapter, "trained is an adapter, not a whole model; merge it into the base"),
    (setting("config.json", auto_map={"AutoModel": "x.Y"}), r"config.json asks for code of its own \(auto_map\)"),
    (setting("tokenizer_config.json", auto_map={}), "tokenizer_config.json asks for code of its own"),
    (setting("config.json", architectures=["BertModel"]), "expected one model for causal language modelling"),
    (setting("config.json", architectures=["GPT2LMHeadModel"]), "expected one model for causal language modelling"),
    (setting("config.json", architectures=["Qwen3ForCausalLM"]), "the architecture is not the base model's: architectures in"),
    (setting("config.json", hidden_size=8), "not the base model's: hidden_size in config.json is 8, the base has 4"),
    (setting("config.json", quantization_config={"bits": 4}), "quantization_config in config.json is .*, the base has None"),
    (setting("tokenizer.json", model={}), "the tokenizer is not the base model's .*; save the base's own tokenizer"),
    (setting("tokenizer_config.json", tokenizer_class="Other"), "the tokenizer is not the base model's"),
    (setting("tokenizer_config.json", chat_template="{{ 1 + 2 }}"), "the chat template is not the base model's"),
    (lambda f: (f / "chat_template.jinja").write_text("{{ 3 }}"), "the chat template is not the base model's"),
    (tensors(model__norm__weight=None), "the tensor model.norm.weight is missing"),
    (tensors(x__lora_A=np.zeros(3, np.float32)), "the tensor x.lora_A is not in the base model; merge adapters"),
    (tensors(model__norm__weight=np.zeros(5, np.float32)), r"model.norm.weight has the shape \[5\], the base's has \[4\]"),
    (broken_number(np.nan, "F32"), "q_proj.weight in model.safetensors holds NaN or infinity; the training diverged"),
    (broken_number(np.inf, "F16"), "q_proj.weight in model.safetensors holds NaN or infinity; the training diverged"),
    (broken_number(-np.inf, "BF16"), "q_proj.weight in model.safetensors holds NaN or infinity; the training diverged"),
    (header((8, 24)), "b in model.safetensors overlaps with another one"),
    (header((20, 36), size=36), "b in model.safetensors leaves a gap of [0-9]+ bytes before it"),
    (header((16, 32), size=40), "the tensors of model.safetensors do not fill the file"),
    (header((16, 24)), r"b in model.safetensors has 8 bytes; its shape \[4\] of F32 takes 16"),
    (header((-16, 0)), "the shape or the place of b in model.safetensors is no count"),
    (header((16, 48), dtype="F64", size=48), "b in .* has numbers of the type 'F64'; expected one of F32, F16, BF16"),
    (short, "the tensors of model.safetensors reach past the end of the file .* save it again, to its end"),
    (large, r"the weights of trained are too large: 83886080 bytes, at most 67109040"),
    (lambda f: (f / "model.safetensors").write_bytes(b"PK\3\4" * 9), "model.safetensors is no safetensors file: its header"),
    (lambda f: (f / "model.safetensors").write_bytes(b""), "model.safetensors is no safetensors file: its header"),
    (lambda f: (f / "model.safetensors").rename(f / "model-1.safetensors"), "has shards but no model.safetensors.index.json"),
    (index(a="../base/model.safetensors"), "has no weight_map of tensors to files of this folder"),
    (index(a="model-1.safetensors"), "model-1.safetensors does not hold the tensors that"),
    (index(a="model-2.safetensors"), "model-2.safetensors in trained cannot be read"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "reason"), REFUSALS, ids=[reason[:60] for _, reason in REFUSALS])
def test_a_checkpoint_is_refused_with_the_reason(
    change: Callable[[Path], None], reason: str, trained: Path, workspace: Path, base: Checkpoint
) -> None:
    change(trained)
    with pytest.raises(CandidateError, match=reason):
        inspect(trained, inside=workspace, base=base)


def test_a_checkpoint_outside_of_the_workspace_is_refused(workspace: Path, base: Checkpoint, tmp_path: Path) -> None:
    outside = [
        tmp_path / "base",
        workspace / "output" / ".." / ".." / "base",
        Path("/etc"),
        workspace.with_name("workspace2"),
    ]
    for folder in outside:
        with pytest.raises(CandidateError, match="is outside of the workspace; save the checkpoint below it"):
            inspect(folder, inside=workspace, base=base)


def test_a_link_on_the_way_is_refused(workspace: Path, base: Checkpoint, tmp_path: Path) -> None:
    (workspace / "way").symlink_to(tmp_path)
    with pytest.raises(CandidateError, match=r"'way' on the way to .* is a link"):
        inspect(workspace / "way" / "base", inside=workspace, base=base)


def test_a_missing_folder_and_a_file_are_told_apart(workspace: Path) -> None:
    (workspace / "file").write_text("")
    with pytest.raises(CandidateError, match="does not exist; submit the folder that the checkpoint was saved to"):
        inspect(workspace / "nothing", inside=workspace)
    with pytest.raises(CandidateError, match=r"'file' on the way to .* is no folder"):
        inspect(workspace / "file", inside=workspace)


def test_a_workspace_may_itself_be_reached_by_a_link(trained: Path, workspace: Path, base: Checkpoint) -> None:
    (workspace.parent / "shortcut").symlink_to(workspace)
    shortcut = workspace.parent / "shortcut"
    assert inspect(shortcut / "output" / "trained", inside=shortcut, base=base).parameters == 44


def test_a_base_has_to_be_sound_for_itself(tmp_path: Path) -> None:
    folder = checkpoint(tmp_path / "quantised")
    edit(folder / "config.json", quantization_config={"bits": 4})
    with pytest.raises(CandidateError, match=r"config\.json has a quantization_config"):
        inspect(folder)
    with pytest.raises(CandidateError, match=r"too large: \d+ bytes, at most 100"):
        inspect(checkpoint(tmp_path / "base"), max_bytes=100)


def test_a_copy_is_what_was_inspected(trained: Path, tmp_path: Path) -> None:
    (trained / "notes.txt").write_text("not read")
    inspected = inspect(trained)
    kept = snapshot(trained, tmp_path / "kept", inspected)
    assert kept == tmp_path / "kept" / inspected.digest
    assert {path.name for path in kept.iterdir()} == set(inspected.files)
    assert inspect(kept) == replace(inspected, ignored=())
    (trained / "model.safetensors").unlink()
    assert snapshot(trained, tmp_path / "kept", inspected) == kept, "what is kept already is not copied again"


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_a_folder_that_changes_before_it_is_copied_is_refused(trained: Path, tmp_path: Path, name: str) -> None:
    inspected = inspect(trained)
    with (trained / name).open("ab") as file:
        file.write(b" ")
    with pytest.raises(CandidateError, match=f"{name} in trained changed while it was copied; submit it again"):
        snapshot(trained, tmp_path / "kept", inspected)
    assert list((tmp_path / "kept").iterdir()) == []


def test_a_file_that_becomes_a_link_before_it_is_copied_is_refused(trained: Path, tmp_path: Path) -> None:
    inspected = inspect(trained)
    link_of_file(trained)
    with pytest.raises(CandidateError, match="is a link"):
        snapshot(trained, tmp_path / "kept", inspected)


def test_a_candidate_stands_for_a_checkpoint(trained: Path) -> None:
    inspected = inspect(trained)
    candidate = Candidate.from_bytes(candidate_of(inspected).to_bytes())
    assert checkpoint_of(candidate) == replace(inspected, files={}, sizes={}, settings={})
    with pytest.raises(ConfigError, match="has no checkpoint"):
        checkpoint_of(Candidate.program(SourceTree({"policy.py": ""})))


@given(
    st.dictionaries(st.text(max_size=5).filter(lambda n: n != "__metadata__"), st.lists(st.integers(0, 3), max_size=3))
)
def test_headers_are_read_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, shapes: dict[str, list[int]]
) -> None:
    path = tmp_path_factory.mktemp("headers") / "model.safetensors"
    write_tensors(path, [(name, "F16", tuple(s), bytes(2 * int(np.prod(s)))) for name, s in shapes.items()])
    with path.open("rb") as file:
        assert {t.name: list(t.shape) for t in read_header(file, "model.safetensors")} == shapes


@given(st.binary(max_size=60), st.booleans())
def test_whatever_is_no_safetensors_file_is_refused(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, headed: bool
) -> None:
    path = tmp_path_factory.mktemp("noise") / "model.safetensors"
    path.write_bytes(struct.pack("<Q", len(data)) + data if headed else data)
    with path.open("rb") as file:
        try:
            parsed = read_header(file, "model.safetensors")
        except CandidateError:
            return
    assert parsed == ()


@given(
    value=st.recursive(
        st.none() | st.integers() | st.text(), lambda v: st.lists(v) | st.dictionaries(st.text(), v), max_leaves=5
    )
)
def test_a_header_of_strange_values_is_refused(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    path = tmp_path_factory.mktemp("strange") / "model.safetensors"
    with_header(path, {"a": {"dtype": "F32", "shape": value, "data_offsets": [0, 4]}, "b": value}, bytes(4))
    with path.open("rb") as file, pytest.raises(CandidateError):
        read_header(file, "model.safetensors")


@pytest.mark.parametrize("mine", ["F32", "F16", "BF16"])
@pytest.mark.parametrize("theirs", ["F32", "F16", "BF16"])
def test_a_base_saved_in_another_type_of_floats_is_the_base(theirs: str, mine: str, tmp_path: Path) -> None:
    base = checkpoint(tmp_path / "base", dtype=theirs)
    assert holds_base(checkpoint(tmp_path / "copy", dtype=mine), base)
    assert holds_base(checkpoint(tmp_path / "repeated", {**weights(), HEAD: weights()[EMBEDDING]}, mine), base)
    changed = weights()
    changed[LAYER][3, 3] += 0.125
    assert not holds_base(checkpoint(tmp_path / "trained", changed, mine), base)


def test_numbers_that_a_type_cannot_hold_are_compared_as_it_rounds_them(tmp_path: Path) -> None:
    precise = {name: array + np.float32(1e-3) for name, array in weights().items()}
    base = checkpoint(tmp_path / "base", precise)
    rounded = checkpoint(tmp_path / "rounded", precise)
    tensors = [(name, "BF16", array.shape, encoded(array, "BF16")) for name, array in precise.items()]
    write_tensors(rounded / "model.safetensors", tensors)
    assert holds_base(rounded, base)
    # Rounded down, each is another number than the nearest.
    assert not holds_base(checkpoint(tmp_path / "cut", precise, "BF16"), base)
