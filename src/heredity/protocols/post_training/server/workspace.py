"""The workspace of a post-training run: its layout, the host's status files, and the agent's files."""

from __future__ import annotations

import io
import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from heredity._core.errors import CandidateError, ConfigError, RecordError
from heredity.protocols.post_training.server.terms import TrainingTerms, host_files, instructions
from heredity.resources.tree import read_folder
from heredity.sandbox.agent_bubblewrap import INSIDE

_STATUS = "status"
_LINKS = {name: f"{_STATUS}/{name}" for name in ("scores.json", "run_meta.json", "reports")}
_MAX_CODE_BYTES = 32 << 20
_MAX_CODE_FILES = 2000


class TrainingWorkspace:
    """The folder an agent trains in.

    While the agent works, the host writes to the folder `status`, where files are replaced whole; the usual names at the top are
    links to it. The agent owns everything else, so the host follows no link there.
    """

    def __init__(self, root: Path, terms: TrainingTerms) -> None:
        """Describe a workspace; `prepare` writes it."""
        self.root, self.terms = root, terms
        self.host_files = (_STATUS, "models", *host_files(sorted(self._task_files())))

    def prepare(self) -> None:
        """Create the workspace. The host's files are rewritten; the agent's files are kept.

        Raises:
            RecordError: if it cannot be written.
            ConfigError: if two files of the task conflict.
        """
        try:
            for name in ("", "code", "output", _STATUS, f"{_STATUS}/reports", "models"):
                _make_folder(self.root / name)
            for path, content in self._task_files().items():
                _write(self.root / _relative(path), content)
            target = self.root / self.terms.model_folder
            if not target.exists():
                _copy_model(self.terms.base_folder, target)
            for name, link in _LINKS.items():
                if not os.path.lexists(self.root / name):
                    (self.root / name).symlink_to(link)
        except OSError as error:
            raise RecordError(f"the workspace {self.root} cannot be written: {error}") from error

    def write_status(self, name: str, value: Any) -> None:
        """Replace a JSON file that the agent may read.

        Raises:
            RecordError: if it cannot be written.
        """
        self.write_text(name, json.dumps(value, indent=1, allow_nan=False) + "\n")

    def write_text(self, name: str, text: str) -> None:
        """Replace a text file of the folder `status`. Raises as `write_status`."""
        try:
            _write(self.root / _STATUS / name, text.encode())
        except OSError as error:
            raise RecordError(f"{name} cannot be written to {self.root}: {error}") from error

    def submitted(self, model_path: str) -> Path:
        """Return the host's path for an agent's path.

        Raises:
            CandidateError: if it is outside the workspace.
        """
        pure = PurePosixPath(model_path)
        for root in (INSIDE, str(self.root)):
            if pure.is_relative_to(root):
                pure = pure.relative_to(root)
                break
        if pure.is_absolute() or ".." in pure.parts or not pure.parts:
            raise CandidateError(
                f"{model_path:.200} is not inside the workspace; save the checkpoint below output/ and give its path"
            )
        return self.root / pure

    def code(self) -> tuple[Mapping[str, bytes], Sequence[str]]:
        """Return the files of `code/` (empty without this folder), and the reasons for leaving others out.

        Links, special files, odd names and files beyond the limits are left out.

        Raises:
            ConfigError: if the folder cannot be read.
        """
        left_out: list[str] = []
        try:
            files = read_folder(
                self.root / "code", max_bytes=_MAX_CODE_BYTES, max_files=_MAX_CODE_FILES, left_out=left_out
            )
        except FileNotFoundError:
            return {}, ()
        except OSError as error:
            raise ConfigError(f"code/ cannot be read ({error.strerror}); make its files readable") from error
        return files, left_out

    def _task_files(self) -> dict[str, bytes]:
        terms = self.terms
        own = {"description.md": terms.description.encode(), "instructions.md": instructions(terms).encode()}
        return {**terms.files, **own}


def archive(files: Mapping[str, bytes]) -> bytes:
    """Return files as a reproducible tar archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in sorted(files.items()):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def names_of(files: Mapping[str, bytes]) -> Sequence[str]:
    """Return the names of files, sorted."""
    return sorted(files)


def _relative(path: str) -> PurePosixPath:
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or not pure.parts:
        raise ConfigError(f"the task has the file {path!r}; expected a path inside the workspace")
    return pure


def _make_folder(path: Path) -> None:
    path.mkdir(parents=True, exist_ok=True)
    if path.is_symlink() or not path.is_dir():
        raise ConfigError(f"{path} is not a folder; remove it")


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # A rename replaces a link instead of following it.
    descriptor, name = tempfile.mkstemp(prefix=".part-", dir=path.parent)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        os.fchmod(descriptor, 0o644)
    os.rename(name, path)


def _copy_model(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=".part-", dir=target.parent))
    part.chmod(0o755)
    for file in sorted(source.iterdir()):
        if file.is_file():
            shutil.copy2(file, part / file.name)
    part.rename(target)
