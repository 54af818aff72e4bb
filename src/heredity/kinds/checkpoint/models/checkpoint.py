"""Checkpoints: language models in the format of Hugging Face, inspected before anything loads them.

A checkpoint is `config.json`, weights as safetensors (one file, or shards with their index), a tokenizer and optionally
`generation_config.json`. Other files are never read. Grading uses a private copy of exactly the inspected content
(Agent² RL-Bench, section 3.3, grades a folder in place). For a checkpoint trained from a base, only the weights are
its own: chat template, end tokens and tokenizer in that copy are the base's files.
"""

from __future__ import annotations

import hashlib
import math
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from heredity._core.errors import CandidateError, ConfigError
from heredity._core.ids import canonical_json, digest_json
from heredity.kinds.checkpoint.models.tensors import (
    DTYPES,
    MAX_HEADER,
    Folder,
    Tensor,
    digest_finite,
    encoded,
    numbers,
    open_folder,
    parsed,
    read_header,
    write_sparse,
)
from heredity.resources import Candidate, SourceTree


@dataclass
class CheckpointPlaces:
    """Locations of candidates' weights.

    Attributes:
        folders: digest of each base model's checkpoint to its folder.
        roots: folders in which runs keep checkpoints by digest.
    """

    folders: dict[str, Path] = field(default_factory=dict[str, Path])
    roots: list[Path] = field(default_factory=list[Path])

    def resolve(self, candidate: Candidate) -> Path:
        """Return the folder of a candidate's checkpoint.

        Raises:
            CandidateError: if its weights were not kept.
        """
        digest = checkpoint_of(candidate).digest
        of_a_base = self.folders.get(digest)
        folder = of_a_base or next((root / digest for root in self.roots if (root / digest).is_dir()), None)
        if folder is None:
            raise CandidateError(
                f"the weights of checkpoint {digest[:12]} are not kept any more; it cannot be graded again"
            )
        return folder


OUTPUT_LAYER = "lm_head.weight"
"""The output layer, which a tied model shares with its embedding."""

_NO_MATTER = (
    *("transformers_version", "_name_or_path", "torch_dtype", "dtype", "use_cache", "pad_token_id"),
    *("_from_model_config", "attention_dropout", "_attn_implementation_autoset"),
)
"""Settings that do not affect a model's answers here."""

_TOKEN_IDS = ("bos_token_id", "eos_token_id")
"""Settings that trainers change; they are not compared, and the base's are used."""

_NO_MATTER_TO_TOKENS = (
    *(
        "name_or_path",
        "tokenizer_file",
        "special_tokens_map_file",
        "model_max_length",
        "max_length",
        "stride",
        "is_local",
    ),
    *("padding_side", "truncation_side", "truncation_strategy", "pad_to_multiple_of", "pad_token", "pad_token_type_id"),
    *("local_files_only", "clean_up_tokenization_spaces", "chat_template", "transformers_version", "processor_class"),
)
_MODELS_OWN = ("padding", "truncation")


def own_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that affect a model's answers."""
    return {key: value for key, value in config.items() if key not in _NO_MATTER}


def own_tokenizer(tokenizer: Mapping[str, Any], config: Mapping[str, Any], template: bytes | None) -> dict[str, str]:
    """Return the digests of the tokenization: `"tokenizer"` and `"chat template"`.

    Args:
        tokenizer: the content of `tokenizer.json`.
        config: that of `tokenizer_config.json`.
        template: that of `chat_template.jinja`, if it exists.
    """
    table = {key: value for key, value in tokenizer.items() if key not in _MODELS_OWN}
    settings = {key: value for key, value in config.items() if key not in _NO_MATTER_TO_TOKENS and value is not None}
    chat_template = template.decode("utf-8", "replace") if template is not None else config.get("chat_template")
    return {"tokenizer": digest_json([table, settings]), "chat template": digest_json(chat_template)}


def own_files(folder: Path) -> dict[str, Any]:
    """Return the `config` and `tokenizer` metadata of a trusted folder that transformers wrote.

    Raises:
        CandidateError: if a file is missing or wrong.
    """
    with open_folder(folder) as opened:
        small = {name: opened.content(name, _LIMITS[name]) for name in opened.names if name in _LIMITS}
    config, table, settings = (parsed(small.get(n, b"{}"), n) for n in (_CONFIG, _TOKENIZER, _TOKENIZER_CONFIG))
    return {"config": own_config(config), "tokenizer": own_tokenizer(table, settings, small.get(_TEMPLATE))}


def own_encoding(tokenizer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of `tokenizer.json` that are not compared but affect prompts: padding and truncation."""
    return {key: tokenizer[key] for key in _MODELS_OWN if tokenizer.get(key) is not None}


def overridden(mine: Mapping[str, Mapping[str, Any]], base: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the settings of files that differ from the base's, as `"FILE: KEY"`; the base's are used."""
    return tuple(
        f"{file}: {key:.80}"
        for file, own in mine.items()
        for key in sorted({*own, *base.get(file, {})})
        if canonical_json(own.get(key)) != canonical_json(base.get(file, {}).get(key))
    )


SavedForm = Callable[[], Mapping[str, Any] | None]
"""Returns the `config` and `tokenizer` metadata that a base has once the installed transformers saved it; None if unknown."""


def check_like(
    metadata: Mapping[str, Any],
    base: Mapping[str, Any],
    digests: Mapping[str, str],
    saved: SavedForm = lambda: None,
) -> None:
    """Reject a checkpoint that is not a trained version of its base.

    The configuration and the tokenizer must be the base's, either as its files are or as the installed transformers
    saves them (`saved`), which renames settings and rebuilds tokenizers. Nothing of the checkpoint is normalised, and
    its files are not used for grading.

    Args:
        metadata: the checkpoint's metadata.
        base: the base's, or the checkpoint's own: then only its consistency is checked.
        digests: of the numbers of each of the checkpoint's tensors.
        saved: the base's saved form; called only if the checkpoint differs from the base's files.

    Raises:
        CandidateError: if it is not.
    """
    forms = [base]
    if _differing(metadata["config"], base["config"]) or metadata["tokenizer"] != base["tokenizer"]:
        forms += [form for form in (saved(),) if form is not None]
    _check_config(metadata["config"], [form["config"] for form in forms])
    if metadata["config"].get("quantization_config"):
        raise CandidateError("config.json has a quantization_config; save the weights as floats of 16 or 32 bits")
    for what, digest in base["tokenizer"].items():
        if metadata["tokenizer"][what] not in [form["tokenizer"][what] for form in forms]:
            difference = f"digest {metadata['tokenizer'][what]:.12}, the base has {digest:.12}"
            raise CandidateError(
                f"the {what} is not the base model's ({difference}); save the base's own tokenizer with the checkpoint: "
                "weights alone are trained"
            )
    _check_tensors(metadata, base["tensors"], digests)


def _differing(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    keys = sorted({*mine, *theirs} - {*_TOKEN_IDS})
    return [key for key in keys if canonical_json(mine.get(key)) != canonical_json(theirs.get(key))]


def _check_config(mine: Mapping[str, Any], forms: Sequence[Mapping[str, Any]]) -> None:
    theirs = min(forms, key=lambda form: len(_differing(mine, form)))
    if differing := _differing(mine, theirs):
        key, *others = (f"{name:.80}" for name in differing[:6])
        more = f" (and {', '.join(others)})" if others else ""
        raise CandidateError(
            f"the architecture is not the base model's: {key} in config.json is {mine.get(key)!r:.80}, the base has "
            f"{theirs.get(key)!r:.80}{more}; train the base model itself"
        )


def _check_tensors(metadata: Mapping[str, Any], theirs: Mapping[str, Any], digests: Mapping[str, str]) -> None:
    mine, tied = dict(metadata["tensors"]), bool(metadata["config"].get("tie_word_embeddings"))
    if tied and OUTPUT_LAYER in mine:
        twins = [
            n
            for n in mine
            if n != OUTPUT_LAYER and digests[n] == digests[OUTPUT_LAYER] and mine[n] == mine[OUTPUT_LAYER]
        ]
        if not twins:
            raise CandidateError(
                f"{OUTPUT_LAYER} differs from the embedding that the base ties it to; keep them tied, or leave it out"
            )
    optional = {OUTPUT_LAYER} if tied else set[str]()
    _refuse(set(theirs) - set(mine) - optional, "is missing; save the whole model with save_pretrained")
    _refuse(
        set(mine) - set(theirs) - optional, "is not in the base model; merge adapters, and train the base model itself"
    )
    for name in sorted(set(mine) & set(theirs)):
        if mine[name] != theirs[name]:
            raise CandidateError(
                f"the tensor {name:.80} has the shape {mine[name]}, the base's has {theirs[name]}; train the base model itself"
            )


def _refuse(names: set[str], why: str) -> None:
    if names:
        few = sorted(names)
        raise CandidateError(f"the tensor {few[0]:.80} {why}" + (f" ({len(few)} such tensors)" if few[1:] else ""))


PART = "model/weights"
"""The part of a candidate that represents a checkpoint: `checkpoint.json`, its manifest without the weights."""

MANIFEST = "checkpoint.json"

_CONFIG, _GENERATION, _INDEX = "config.json", "generation_config.json", "model.safetensors.index.json"
_SINGLE = "model.safetensors"
_TOKENIZER, _TOKENIZER_CONFIG, _TEMPLATE = "tokenizer.json", "tokenizer_config.json", "chat_template.jinja"
_SHARD = re.compile(r"model[\w.-]{0,80}\.safetensors")
_PICKLE = re.compile(r".*\.(bin|pt|pth|pkl|pickle|ckpt)")
_LIMITS = {_CONFIG: 1 << 20, _GENERATION: 1 << 20, _INDEX: 16 << 20, _TOKENIZER: 64 << 20, _TOKENIZER_CONFIG: 8 << 20}
_LIMITS[_TEMPLATE] = 1 << 20
_SETTINGS = _LIMITS.keys() - {_INDEX}
_HEADROOM = 64 << 20
_SLACK, _TENSOR_BYTES = 1 << 20, 1 << 10
"""Allowed excess of a file's size over the base's: in all, and for each tensor of the base."""
_CHUNK = 8 << 20


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """An inspected checkpoint.

    Attributes:
        digest: SHA-256 over its configuration, tensors and tokenizer. Different files may have the same digest:
            sharding and the version that wrote the configuration do not count.
        bytes: of its tensors.
        parameters: their number of values.
        architecture: class of the model, such as `"LlamaForCausalLM"`.
        files: name to SHA-256 of every file that it consists of, including those from its base; empty on a checkpoint
            that was read back from a candidate.
        metadata: `config` and `generation` without irrelevant settings, `tokenizer` (a digest), `tensors` (name to
            shape), `dtypes` (type to count of tensors).
        ignored: the other files of the folder, which are not read and not part of it.
        sizes: name to bytes of the files other than weights.
        settings: settings that affect answers and are not compared: `generation_config.json`, padding and truncation
            of `tokenizer.json`, and the ids of the first and last token of `config.json`.
        overridden: the settings that differ from the base's, which are used instead: `"generation_config.json:
            eos_token_id"`.
    """

    digest: str
    bytes: int
    parameters: int
    architecture: str
    files: Mapping[str, str] = field(repr=False)
    metadata: Mapping[str, Any] = field(repr=False)
    ignored: tuple[str, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict[str, int], repr=False)
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]], repr=False)
    overridden: tuple[str, ...] = ()


def inspect(
    folder: Path,
    *,
    inside: Path | None = None,
    base: Checkpoint | None = None,
    saved: SavedForm = lambda: None,
    max_bytes: int | None = None,
) -> Checkpoint:
    """Inspect a checkpoint, reading each of its bytes once and running nothing.

    Args:
        folder: the checkpoint.
        inside: the workspace that must contain it, without a link in the path; None trusts the path.
        base: the base that it must be a trained version of: with the same architecture, tokenizer and tensors. Floats
            may be of another type, and an output layer that is tied to the embedding may be absent or repeated.
        saved: the base as the installed transformers saves it (`check_like`).
        max_bytes: its maximum size; with a base, 32 bits for each of the base's parameters are the limit as well. By
            default nothing else limits the size of a base.

    Raises:
        CandidateError: if it is rejected (the message gives the reason and the remedy).
    """
    limits, header = _limits(base)
    with open_folder(folder, inside) as opened:
        small = {name: opened.content(name, limits[name]) for name in opened.names if name in limits}
        _check_kind(opened, small)
        config = parsed(small[_CONFIG], _CONFIG)
        tokenizer = parsed(small.get(_TOKENIZER_CONFIG, b"{}"), _TOKENIZER_CONFIG)
        architecture = _architecture(config)
        _check_own_code({_CONFIG: config, _TOKENIZER_CONFIG: tokenizer})
        shards = _shards(opened, small)
        rooms = [most for most in (max_bytes, base and base.parameters * 4 + _HEADROOM) if most is not None]
        _check_size(opened, shards, min(rooms, default=math.inf))
        if _SINGLE in shards:
            small.pop(_INDEX, None)
        weights = _read_weights(opened, shards, header)
    table = parsed(small[_TOKENIZER], _TOKENIZER)
    generation = parsed(small.get(_GENERATION, b"{}"), _GENERATION)
    metadata = {
        "config": own_config(config),
        "generation": base.metadata["generation"] if base else own_config(generation),
        "tokenizer": own_tokenizer(table, tokenizer, small.get(_TEMPLATE)),
        "tensors": {name: list(tensor.shape) for name, (tensor, _) in sorted(weights.tensors.items())},
        "dtypes": _counted(weights.tensors),
    }
    contents = {name: [tensor.dtype, list(tensor.shape), own] for name, (tensor, own) in weights.tensors.items()}
    files = {name: hashlib.sha256(data).hexdigest() for name, data in small.items()} | weights.files
    sizes = [(tensor.end - tensor.begin, tensor.count) for tensor, _ in weights.tensors.values()]
    settings = {
        _GENERATION: own_config(generation),
        _TOKENIZER: own_encoding(table),
        _CONFIG: {key: config[key] for key in _TOKEN_IDS if key in config},
    }
    check_like(
        metadata,
        base.metadata if base else metadata,
        {name: digest for name, (_, digest) in weights.tensors.items()},
        saved,
    )
    if base:
        metadata |= {what: base.metadata[what] for what in ("config", "tokenizer")}
    return Checkpoint(
        digest=digest_json({**metadata, "tensors": contents}),
        bytes=sum(size for size, _ in sizes),
        parameters=sum(count for _, count in sizes),
        architecture=architecture,
        files=_with_base(files, base) if base else files,
        metadata=metadata,
        ignored=tuple(name for name in opened.names if name not in files),
        sizes={name: len(data) for name, data in small.items()},
        settings=settings,
        overridden=overridden(settings, base.settings) if base else (),
    )


def holds_base(folder: Path, base: Path, *, inside: Path | None = None) -> bool:
    """Return whether an inspected checkpoint has its base's numbers in other types of floats, each the nearest one.

    Nothing of it was trained then. Reading ends at the first tensor that differs.

    Args:
        folder: the checkpoint.
        base: the folder of its base.
        inside: as for `inspect`.

    Raises:
        CandidateError: if a file of the checkpoint cannot be read any more.
    """
    with open_folder(folder, inside) as mine, open_folder(base) as theirs, ExitStack() as opened:
        originals = {tensor.name: (file, tensor) for file, tensor in _tensors(theirs, opened)}
        # An output layer that is only here repeats the embedding, as its inspection found.
        return all(
            _alike(file, tensor, *originals[tensor.name])
            for file, tensor in _tensors(mine, opened)
            if tensor.name in originals
        )


def _tensors(folder: Folder, opened: ExitStack) -> Iterator[tuple[IO[bytes], Tensor]]:
    small = {_INDEX: folder.content(_INDEX, _LIMITS[_INDEX])} if _INDEX in folder.names else {}
    for name in _shards(folder, small):
        file = opened.enter_context(folder.file(name))
        yield from ((file, tensor) for tensor in read_header(file, name))


def _alike(mine: IO[bytes], tensor: Tensor, theirs: IO[bytes], original: Tensor) -> bool:
    if tensor.shape != original.shape:
        return False
    mine.seek(tensor.begin)
    theirs.seek(original.begin)
    for start in range(0, tensor.count, _CHUNK):
        count = min(_CHUNK, tensor.count - start)
        data = theirs.read(count * DTYPES[original.dtype])
        cast_here = encoded(numbers(data, replace(original, shape=(count,))), tensor.dtype)
        if mine.read(count * DTYPES[tensor.dtype]) != cast_here:
            return False
    return True


def snapshot(folder: Path, root: Path, checkpoint: Checkpoint, base: Path | None = None) -> Path:
    """Keep a private copy of a checkpoint and return its folder, `root/<digest>`; an existing copy is reused.

    Args:
        folder: the inspected folder.
        root: the folder of all copies, created if needed; untrusted programs must not write there.
        checkpoint: the result of `inspect`.
        base: the folder of the base that it was compared with, if any: all files except the weights are copied from
            there.

    Raises:
        CandidateError: if a file has changed since it was inspected (nothing is kept).
        OSError: if the copy cannot be written.
    """
    target = root / checkpoint.digest
    if target.is_dir():
        return target
    root.mkdir(parents=True, exist_ok=True)
    copying = Path(tempfile.mkdtemp(prefix=".copying-", dir=root))
    try:
        with open_folder(folder) as opened, open_folder(base or folder) as settings:
            for name, digest in checkpoint.files.items():
                of = settings if name in _SETTINGS else opened
                with of.file(name) as source, (copying / name).open("xb") as copy:
                    if _copied(source, copy) != digest:
                        raise CandidateError(
                            f"{name} in {folder.name} changed while it was copied; submit it again once nothing writes to it"
                        )
        try:
            copying.rename(target)
        except OSError:
            # Another thread was faster; its copy is the same.
            if not target.is_dir():
                raise
    finally:
        shutil.rmtree(copying, ignore_errors=True)
    return target


def candidate_of(checkpoint: Checkpoint) -> Candidate:
    """Return the candidate that represents a checkpoint; equal contents give equal candidates, however divided into files."""
    manifest = {
        name: getattr(checkpoint, name) for name in ("digest", "bytes", "parameters", "architecture", "metadata")
    }
    return Candidate({PART: SourceTree({MANIFEST: canonical_json(manifest)})})


def checkpoint_of(candidate: Candidate) -> Checkpoint:
    """Return the checkpoint that a candidate represents, without its files.

    Raises:
        ConfigError: if the candidate was not created by `candidate_of`.
    """
    try:
        manifest = parsed(candidate.parts[PART][MANIFEST], MANIFEST)
        return Checkpoint(files={}, **manifest)
    except (KeyError, TypeError, CandidateError) as error:
        raise ConfigError(
            f"the candidate {candidate.digest[:12]} has no checkpoint (parts: {', '.join(candidate.parts)}); expected {PART}"
        ) from error


@dataclass(slots=True)
class _Weights:
    """Tensors by name, each with the digest of its numbers, and digests of their files."""

    tensors: dict[str, tuple[Tensor, str]] = field(default_factory=dict[str, tuple[Tensor, str]])
    files: dict[str, str] = field(default_factory=dict[str, str])


def _limits(base: Checkpoint | None) -> tuple[Mapping[str, int], int]:
    """Return the maximum bytes of each file other than weights, and of a header; with a base, this bounds the cost of parsing."""
    if base is None:
        return _LIMITS, MAX_HEADER
    own = {name: min(most, 2 * base.sizes.get(name, 0) + _SLACK) for name, most in _LIMITS.items()}
    header = _SLACK + _TENSOR_BYTES * len(base.metadata["tensors"])
    return {**own, _INDEX: header}, header


def _with_base(files: Mapping[str, str], base: Checkpoint) -> dict[str, str]:
    own = {name: digest for name, digest in files.items() if name not in _SETTINGS}
    return own | {name: digest for name, digest in base.files.items() if name in _SETTINGS}


def _check_kind(opened: Folder, small: Mapping[str, bytes]) -> None:
    names = opened.names
    if "adapter_config.json" in names and _CONFIG not in names:
        raise CandidateError(
            f"{opened.name} is an adapter, not a whole model; merge it into the base (merge_and_unload) and save the result"
        )
    if _CONFIG not in names:
        raise CandidateError(
            f"{opened.name} has no config.json; submit a folder that save_pretrained wrote (it holds: {_few(names)})"
        )
    if not any(_SHARD.fullmatch(name) for name in names):
        pickled = [name for name in names if _PICKLE.fullmatch(name)]
        if pickled:
            raise CandidateError(
                f"{pickled[0]} in {opened.name} is a pickle, which can run code when it is loaded; save the weights as safetensors"
            )
        raise CandidateError(f"{opened.name} has no model.safetensors; save the model with save_pretrained")
    if _TOKENIZER not in small:
        raise CandidateError(
            f"{opened.name} has no tokenizer.json; save the tokenizer beside the model: tokenizer.save_pretrained(folder)"
        )


def _check_own_code(configs: Mapping[str, Mapping[str, Any]]) -> None:
    for name, config in configs.items():
        if "auto_map" in config:
            raise CandidateError(f"{name} asks for code of its own (auto_map), which is never run; remove it")


def _architecture(config: Mapping[str, Any]) -> str:
    named = config.get("architectures")
    if not isinstance(named, list) or len(named) != 1 or not str(named[0]).endswith("ForCausalLM"):
        raise CandidateError(
            f"architectures in config.json is {named!r:.80}; expected one model for causal language modelling"
        )
    return str(named[0])


def _shards(opened: Folder, small: Mapping[str, bytes]) -> dict[str, set[str] | None]:
    """Return the files of the weights, each with the names of its tensors if an index lists them."""
    if _SINGLE in opened.names:
        return {_SINGLE: None}
    if _INDEX not in small:
        raise CandidateError(f"{opened.name} has shards but no {_INDEX}; save the model with save_pretrained")
    index = parsed(small[_INDEX], _INDEX)
    places = index.get("weight_map")
    if (
        not isinstance(index.get("metadata"), dict)
        or not isinstance(places, dict)
        or not all(isinstance(file, str) and _SHARD.fullmatch(file) for file in places.values())
    ):
        raise CandidateError(
            f"{_INDEX} has no weight_map of tensors to files of this folder, or no metadata; save with save_pretrained"
        )
    shards: dict[str, set[str] | None] = {}
    for tensor, file in places.items():
        named = shards.setdefault(file, set())
        assert named is not None
        named.add(tensor)
    return shards


def _check_size(opened: Folder, shards: Mapping[str, object], room: float) -> None:
    size = sum(opened.size(name) for name in shards)
    if size > room:
        raise CandidateError(
            f"the weights of {opened.name} are too large: {size} bytes, at most {room}; save the model alone, in 16 or 32 bits"
        )


def _read_weights(opened: Folder, shards: Mapping[str, set[str] | None], header: int) -> _Weights:
    weights = _Weights()
    for name, named in shards.items():
        with opened.file(name) as file:
            whole = hashlib.sha256()
            tensors = read_header(file, name, whole, header)
            if named is not None and named != {tensor.name for tensor in tensors}:
                raise CandidateError(f"{name} does not hold the tensors that {_INDEX} says; save with save_pretrained")
            for tensor in tensors:
                if tensor.name in weights.tensors:
                    raise CandidateError(
                        f"{tensor.name:.80} is in two files of {opened.name}; save with save_pretrained"
                    )
                weights.tensors[tensor.name] = tensor, digest_finite(file, tensor, name, whole)
            weights.files[name] = whole.hexdigest()
    return weights


def _copied(source: IO[bytes], copy: IO[bytes]) -> str:
    """Copy a file, holes included, and return its SHA-256."""
    digest = hashlib.sha256()
    while chunk := source.read(_CHUNK):
        digest.update(chunk)
        write_sparse(copy, chunk)
    copy.truncate()
    return digest.hexdigest()


def _counted(tensors: Mapping[str, tuple[Tensor, str]]) -> dict[str, int]:
    kinds = [tensor.dtype for tensor, _ in tensors.values()]
    return {kind: kinds.count(kind) for kind in sorted(set(kinds))}


def _few(names: tuple[str, ...]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "") or "nothing"
