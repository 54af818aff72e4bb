"""Finding the files of known benchmarks."""

from __future__ import annotations

import os
from pathlib import Path

from heredity._core.errors import ConfigError

DATA_VARIABLE = "HEREDITY_DATA"
"""Environment variable: the folder with `gsm8k/` and `aime/`."""

DOWNLOAD_VARIABLE = "HEREDITY_DOWNLOAD"
"""Environment variable: `1` allows fetching missing files from the Hugging Face hub."""


def find(relative: str, hub: tuple[str, str] | None = None) -> Path:
    """Return the path of a benchmark's file.

    The search order is the folder that `HEREDITY_DATA` names, or else `./data` and `shared/data` in the current
    folder or any above it, or else, if `HEREDITY_DOWNLOAD` is 1, the Hugging Face hub.

    Args:
        relative: such as `"gsm8k/train.parquet"`.
        hub: the data set and the file on the hub, if it is there.

    Raises:
        ConfigError: if it is not found; the message lists the places searched.
    """
    tried = [folder / relative for folder in _folders()]
    for path in tried:
        if path.is_file():
            return path
    looked = ", ".join(map(str, tried))
    if hub is not None and os.environ.get(DOWNLOAD_VARIABLE) == "1":
        return _download(*hub, looked)
    allow = f", or allow a download with {DOWNLOAD_VARIABLE}=1" if hub is not None else ""
    raise ConfigError(f"{relative} is missing; looked for {looked}; set {DATA_VARIABLE} to the folder it is in{allow}")


def _folders() -> list[Path]:
    named = os.environ.get(DATA_VARIABLE)
    if named:
        return [Path(named).expanduser()]
    here = Path.cwd()
    return [here / "data", *(folder / "shared" / "data" for folder in (here, *here.parents))]


def _download(dataset: str, file: str, looked: str) -> Path:
    try:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
    except ImportError as error:
        raise ConfigError(f"{file} of {dataset} cannot be fetched; pip install huggingface_hub") from error
    try:
        return Path(hf_hub_download(dataset, file, repo_type="dataset"))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise ConfigError(
            f"{file} of {dataset} cannot be fetched from the hub: {error}; nor is it in {looked}"
        ) from error
