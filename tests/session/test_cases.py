from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from heredity._core.errors import ConfigError, DamagedRecordError, RecordError
from heredity.session import HiddenCases
from heredity.tasks import Task

from .fakes import NumbersTaskset

_SRC = str(Path(__file__).parents[2] / "src")
VIEWS = {"validation": 4, "heldout": 6}


def test_a_secret_is_readable_by_its_owner_only_and_read_back(tmp_path: Path) -> None:
    hidden_cases = HiddenCases.create(tmp_path / "suite")
    assert stat.S_IMODE((tmp_path / "suite" / "cases.json").stat().st_mode) == 0o600
    assert HiddenCases.open(tmp_path / "suite") == hidden_cases
    assert HiddenCases.create(tmp_path / "suite") == hidden_cases
    assert HiddenCases.create(tmp_path / "other") != hidden_cases
    assert [p.name for p in (tmp_path / "suite").iterdir()] == ["cases.json"]


def test_a_secret_is_not_shown(tmp_path: Path) -> None:
    hidden_cases = HiddenCases.create(tmp_path)
    assert str(hidden_cases.entropy) not in repr(hidden_cases)
    assert hidden_cases.salt.hex() not in repr(hidden_cases)
    assert "seed" not in repr(hidden_cases.tasks(NumbersTaskset(), "heldout", 2))


def test_processes_that_create_at_once_end_with_one_winner(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from heredity.session.cases import HiddenCases\n"
        "sys.stdin.readline(); print(HiddenCases.create(Path(sys.argv[1])).entropy)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "suite")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "env": os.environ | {"PYTHONPATH": _SRC}}
    children = [subprocess.Popen(command, **pipes) for _ in range(4)]  # type: ignore[call-overload]
    for child in children:
        child.stdin.write(b"go\n")
        child.stdin.flush()
    seen = {child.communicate()[0] for child in children}
    assert seen == {f"{HiddenCases.open(tmp_path / 'suite').entropy}\n".encode()}


def test_a_commitment_opens_with_its_cases_and_no_others(tmp_path: Path) -> None:
    hidden_cases, taskset = HiddenCases.create(tmp_path), NumbersTaskset()
    opening = hidden_cases.opening([taskset], VIEWS)
    assert opening.commitment == hidden_cases.commitment([taskset], VIEWS)
    assert opening.fits(hidden_cases.cases([taskset], VIEWS))
    assert not opening.fits(hidden_cases.cases([taskset], {"validation": 4, "heldout": 5}))
    assert not opening.fits(hidden_cases.cases([NumbersTaskset("fake/other")], VIEWS))


def test_opening_one_commitment_gives_no_salt_of_another(tmp_path: Path) -> None:
    hidden_cases = HiddenCases.create(tmp_path)
    one, other = (hidden_cases.opening([NumbersTaskset(name)], VIEWS) for name in ("fake/a", "fake/b"))
    assert one.salt != other.salt
    assert hidden_cases.salt.hex() not in (one.salt, other.salt)


def test_a_taskset_that_repeats_a_case_is_refused(tmp_path: Path) -> None:
    class Repeating(NumbersTaskset):
        def draw(self, split: str, count: int, entropy: int) -> tuple[Task, ...]:
            return super().draw(split, 1, entropy) * count

    with pytest.raises(ConfigError, match="distinct"):
        HiddenCases.create(tmp_path).tasks(Repeating(), "heldout", 2)


def test_a_missing_or_damaged_secret_is_reported(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="cannot be read"):
        HiddenCases.open(tmp_path)
    HiddenCases.create(tmp_path)
    path = tmp_path / "cases.json"
    good = path.read_text()
    digit = good[good.index('"entropy":"') + 11]
    path.write_text(good.replace(f'"entropy":"{digit}', f'"entropy":"{"0" if digit != "0" else "1"}'))
    with pytest.raises(DamagedRecordError, match="checksum"):
        HiddenCases.open(tmp_path)
    path.write_text(good[:20])
    with pytest.raises(DamagedRecordError, match="damaged"):
        HiddenCases.open(tmp_path)


def test_a_folder_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match="cannot be written"):
        HiddenCases.create(tmp_path / "file")
