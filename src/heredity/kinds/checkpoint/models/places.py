"""Locations of the weights of checkpoint candidates."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from heredity._core.errors import CandidateError
from heredity.kinds.checkpoint.models.checkpoint import checkpoint_of
from heredity.resources import Candidate


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
