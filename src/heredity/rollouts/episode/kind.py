"""The kind of episodes: policy programs act in environments, each program confined. No model is asked."""

from __future__ import annotations

from pathlib import Path

from heredity.errors import ConfigError
from heredity.outside import read_bytes
from heredity.records.run_folder import check_no_record
from heredity.resources import Candidate, SourceTree
from heredity.resources.candidate import AGENT
from heredity.results.status import Status
from heredity.rollouts.contract import Runner
from heredity.rollouts.episode.constant import constant_programs
from heredity.rollouts.episode.runner import EpisodeRunner
from heredity.rollouts.episode.starter import POLICY, starter_program
from heredity.rollouts.kind import Candidates, Kind, Needs, Opening
from heredity.rollouts.trajectory import Failure


def _open(opening: Opening) -> Runner:
    workers = opening.workers
    return EpisodeRunner(workers.count, lockstep=workers.lockstep, unsafe=workers.unsafe)


def _read(path: Path) -> Candidate:
    """Return the policy program in a folder, or the one that is a single file."""
    if path.suffix == ".py" and path.is_file():
        return Candidate.program(SourceTree({POLICY: read_bytes(path)}))
    if path.is_file():
        raise ConfigError(f"{path} is no policy; give a folder with {POLICY} in it, or one file of Python")
    check_no_record(path)
    tree = SourceTree.from_folder(path)
    if POLICY not in tree:
        raise ConfigError(f"{path} has no {POLICY}; give the folder of a policy program, or one file of Python")
    return Candidate.program(tree)


def _refusal(candidate: Candidate) -> Failure | None:
    if AGENT in candidate.parts and POLICY in candidate.parts[AGENT]:
        return None
    return Failure(Status.MISSING_POLICY, f"the program has no file {POLICY}; put it at the top of its folder")


KIND = Kind(
    "episode",
    _open,
    Needs(confined=True),
    Candidates(
        lambda info: Candidate.program(starter_program(info.public)),
        _read,
        _refusal,
        constant=lambda info: [Candidate.program(program) for program in constant_programs(info.public)],
    ),
    usage=lambda trajectory: None,
)
