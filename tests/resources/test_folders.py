"""Folders of resources and collections of Agent Skills: in and out again, every file and permission, and what is refused."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.resources import Registry, SourceTree, Store
from heredity.resources.assembly import candidate_from_folder

FRONTS = {
    "plain": "name: plain\ndescription: Makes tables: wide ones too\nlicense: see LICENSE.txt",
    "quoted": "name: quoted\ndescription: \"Use it for 'forms'\\nand lists\"\nallowed-tools: [Bash, Read]",
    "long-lines": f"description: |-\n  First line.\n  {'Second, longer. ' * 70}\nname: long-lines\nuser-invocable: true",
}
SCRIPT = b"#!/bin/sh\nexit 0\n"


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    with Store(tmp_path / "s.db") as store:
        yield Registry(store)


def write(folder: Path, name: str, content: bytes, mode: int = 0o644) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)


def collection(folder: Path) -> Path:
    for name, front in FRONTS.items():
        write(folder / name, "SKILL.md", f"\ufeff---\r\n{front}\r\n---\r\n\r\nDo it.\r\n".encode())
        write(folder / name, "scripts/deep/er/run.sh", SCRIPT, 0o755)
        write(folder / name, "scripts/old.py", b"print 'of another version'\n", 0o750)
        write(folder / name, "assets/large.bin", os.urandom(3 << 20))
        write(folder / name, "references/.hidden.md", "é\n".encode(), 0o600)
        write(folder / name, "empty", b"")
    (folder / "README.md").write_text("of the collection")
    return folder


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    files = [path for path in folder.rglob("*") if path.is_file() and path.parent != folder]
    return {str(p.relative_to(folder)): (p.read_bytes(), stat.S_IMODE(p.stat().st_mode)) for p in files}


@pytest.mark.parametrize("umask", [0o022, 0o002, 0o077])
def test_a_collection_of_skills_comes_back_with_every_file_and_permission(
    registry: Registry, tmp_path: Path, umask: int
) -> None:
    before = os.umask(umask)
    try:
        skills = collection(tmp_path / "skills")
        if umask == 0o002:
            for path in skills.rglob("*.md"):
                path.chmod(0o664)
        assert [version.label for version in registry.init(skills)] == [f"tool/{n}@1.0.0" for n in sorted(FRONTS)]
        registry.save_to_folder(tmp_path / "out")
    finally:
        os.umask(before)
    assert contents(tmp_path / "out") == contents(skills)
    assert registry.init(skills) == registry.init(tmp_path / "out") == []
    assert registry.get("tool", "plain").version.manifest.description == "Makes tables: wide ones too"


def test_one_skill_is_read_whole_and_an_edit_of_it_is_its_next_version(registry: Registry, tmp_path: Path) -> None:
    skill = collection(tmp_path / "skills") / "plain"
    assert registry.load_contract(skill / "SKILL.md").label == "tool/plain@1.0.0"
    assert len(registry.get("tool", "plain").tree) == 6
    assert registry.init(skill) == []
    (skill / "empty").unlink()
    (skill / "SKILL.md").write_text("---\nname: plain\ndescription: Makes charts\n---\n")
    assert registry.load_contract(skill).label == "tool/plain@1.0.1"
    again = registry.get("tool", "plain")
    assert ("empty" in again.tree, again.version.manifest.description) == (False, "Makes charts")
    registry.save_to_folder(tmp_path / "out", ["tool/plain"])
    mine = {path: kept for path, kept in contents(skill.parent).items() if path.startswith("plain/")}
    assert contents(tmp_path / "out") == mine
    assert not (tmp_path / "out" / "plain" / "resource.json").exists()


def test_a_skill_needs_no_manifest_wherever_it_is_registered(registry: Registry, tmp_path: Path) -> None:
    files = SourceTree.from_folder(collection(tmp_path / "skills") / "plain")
    assert registry.register("tool", "plain", files).manifest.description == "Makes tables: wide ones too"
    text = "---\nname: plain\ndescription: Makes charts\n---\n"
    assert registry.set_variables("tool", "plain", {"SKILL.md": text}).manifest.description == "Makes charts"
    own = registry.update("tool", "plain", manifest={"description": "of its own"})
    assert registry.update("tool", "plain", files).manifest.description == own.manifest.description
    (tmp_path / "agent" / "tool").mkdir(parents=True)
    (tmp_path / "skills" / "plain").rename(tmp_path / "agent" / "tool" / "plain")
    assert set(candidate_from_folder(tmp_path / "agent").parts) == {"tool/plain"}


def test_resources_of_several_types_come_back_under_their_types(registry: Registry, tmp_path: Path) -> None:
    registry.register("prompt", "p", "Say {{what}}", {"description": "says", "pins": {}})
    registry.register("memory", "m", {"notes.md": "é"})
    registry.init(collection(tmp_path / "skills") / "plain")
    heads = registry.save_to_folder(tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["memory", "prompt", "tool"]
    with Store(tmp_path / "other.db") as store:
        other = Registry(store)
        taken = other.init(tmp_path / "out")
        assert [(v.label, v.content, v.manifest) for v in taken] == [(v.label, v.content, v.manifest) for v in heads]


def test_what_stands_in_the_way_is_never_overwritten(registry: Registry, tmp_path: Path) -> None:
    registry.init(collection(tmp_path / "skills"))
    write(tmp_path / "out" / "quoted", "mine.txt", b"mine")
    with pytest.raises(ConfigError, match=r"out/quoted exists already; give another folder"):
        registry.save_to_folder(tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["quoted"]
    with pytest.raises(UnknownNameError, match="did you mean plain"):
        registry.save_to_folder(tmp_path / "new", ["tool/plian"])


def test_links_other_names_and_folders_that_are_none_are_refused_by_name(registry: Registry, tmp_path: Path) -> None:
    skills = collection(tmp_path / "skills")
    (skills / "plain" / "assets" / "link").symlink_to("/etc/passwd")
    (skills / "quoted").rename(skills / "other")
    (skills / "drafts").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (skills / "memory").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError) as refused:
        registry.init(skills)
    for part in (
        r"plain: assets/link is a link",
        r"other/SKILL.md names 'quoted'",
        r"drafts has no SKILL.md",
        r"memory is a link",
    ):
        assert part in str(refused.value)
    assert registry.list() == []
    with pytest.raises(ConfigError, match=r"skills is not a skill but holds 3; import .*skills"):
        registry.init(tmp_path)
    with pytest.raises(ConfigError, match="holds no resources"):
        registry.init(tmp_path / "elsewhere")
