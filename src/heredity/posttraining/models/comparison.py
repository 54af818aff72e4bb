"""What of a checkpoint has to be its base's own: everything but the numbers of its weights.

An agent that could change more than those would not have to train: a chat template computes, a tokenizer replaces texts, and a
larger model knows more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heredity.errors import CandidateError
from heredity.ids import canonical_json, digest_json

OUTPUT_LAYER = "lm_head.weight"
"""The output layer, which a tied model shares with its embedding."""

_NO_MATTER = (
    *("transformers_version", "_name_or_path", "torch_dtype", "dtype", "use_cache", "pad_token_id"),
    *("_from_model_config", "attention_dropout", "_attn_implementation_autoset"),
)
"""Settings that have no bearing on what a model answers here."""

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
    """Return the settings that have a bearing on what a model answers."""
    return {key: value for key, value in config.items() if key not in _NO_MATTER}


def own_tokenizer(tokenizer: Mapping[str, Any], config: Mapping[str, Any], template: bytes | None) -> dict[str, str]:
    """Return the digests of how text becomes tokens: `"tokenizer"` and `"chat template"`.

    Args:
        tokenizer: the content of `tokenizer.json`.
        config: that of `tokenizer_config.json`.
        template: that of `chat_template.jinja`, if there is one.
    """
    table = {key: value for key, value in tokenizer.items() if key not in _MODELS_OWN}
    settings = {key: value for key, value in config.items() if key not in _NO_MATTER_TO_TOKENS and value is not None}
    chat_template = template.decode("utf-8", "replace") if template is not None else config.get("chat_template")
    return {"tokenizer": digest_json([table, settings]), "chat template": digest_json(chat_template)}


def own_encoding(tokenizer: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of `tokenizer.json` is not compared and has a bearing on what a model is asked: padding and truncation."""
    return {key: tokenizer[key] for key in _MODELS_OWN if tokenizer.get(key) is not None}


def overridden(mine: Mapping[str, Mapping[str, Any]], base: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the settings of files that are not the base's, as `"FILE: KEY"`; the base's are used."""
    return tuple(
        f"{file}: {key:.80}"
        for file, own in mine.items()
        for key in sorted({*own, *base.get(file, {})})
        if canonical_json(own.get(key)) != canonical_json(base.get(file, {}).get(key))
    )


def check_like(metadata: Mapping[str, Any], base: Mapping[str, Any], digests: Mapping[str, str]) -> None:
    """Refuse a checkpoint that is no trained version of its base.

    Args:
        metadata: the checkpoint's metadata.
        base: the base's, or the checkpoint's own: then it is only checked for itself.
        digests: of the numbers of each of the checkpoint's tensors.

    Raises:
        CandidateError: if it is none.
    """
    _check_config(metadata["config"], base["config"])
    if metadata["config"].get("quantization_config"):
        raise CandidateError("config.json has a quantization_config; save the weights as floats of 16 or 32 bits")
    for what, digest in base["tokenizer"].items():
        if metadata["tokenizer"][what] != digest:
            difference = f"digest {metadata['tokenizer'][what]:.12}, the base has {digest:.12}"
            raise CandidateError(
                f"the {what} is not the base model's ({difference}); save the base's own tokenizer with the checkpoint: "
                "weights alone are trained"
            )
    _check_tensors(metadata, base["tensors"], digests)


def _check_config(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> None:
    differing = [
        key for key in sorted({*mine, *theirs}) if canonical_json(mine.get(key)) != canonical_json(theirs.get(key))
    ]
    if differing:
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
