from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity._core.errors import ConfigError, DamagedRecordError
from heredity._core.ids import digest_bytes
from heredity.resources import SourceTree

names = st.text("abcdefgh_äé", min_size=1, max_size=6)
trees = st.dictionaries(names, st.binary(max_size=40), max_size=5).flatmap(
    lambda flat: st.builds(
        lambda folder, inner: SourceTree({**flat, **{f"{folder}.d/{k}": v for k, v in inner.items()}}),
        names,
        st.dictionaries(names, st.binary(max_size=40), max_size=3),
    )
)


@given(trees)
def test_a_tree_is_what_it_was_after_it_was_encoded(tree: SourceTree) -> None:
    again = SourceTree.from_bytes(tree.to_bytes())
    assert again == tree
    assert again.digest == tree.digest == digest_bytes(tree.to_bytes())
    assert hash(again) == hash(tree)


@given(st.dictionaries(names, st.binary(max_size=10), min_size=1, max_size=5), st.randoms())
def test_the_order_of_files_does_not_matter(files: dict[str, bytes], random) -> None:
    shuffled = list(files.items())
    random.shuffle(shuffled)
    assert SourceTree(dict(shuffled)).digest == SourceTree(files).digest


@given(trees, names, st.binary(max_size=8))
def test_every_path_and_every_byte_is_part_of_the_identity(tree: SourceTree, name: str, content: bytes) -> None:
    before = dict(tree)
    changed = tree.with_file(name, content)
    assert dict(tree) == before
    assert dict(changed) == {**before, name: content}
    assert (changed.digest == tree.digest) == (before.get(name) == content)


def test_a_tree_is_a_mapping_that_cannot_be_changed() -> None:
    tree = SourceTree({"b.py": "x = 1", "a/c.py": b"\xff"})
    assert list(tree) == ["a/c.py", "b.py"]
    assert (len(tree), tree["b.py"], tree.text("a/c.py")) == (2, b"x = 1", "�")
    assert not hasattr(tree, "__setitem__")
    assert tree != {"b.py": b"x = 1", "a/c.py": b"\xff"}
    assert repr(tree) == f"SourceTree(2 files, {tree.digest[:12]})"


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../up",
        "a/../../b",
        "a//b",
        "./a",
        "a/",
        "a\\b",
        "a\0b",
        "x" * 256,
        "a/" * 1100 + "b",
        "\ud800",
    ],
)
def test_paths_stay_inside_and_can_be_stored(path: str) -> None:
    with pytest.raises(ConfigError):
        SourceTree({path: b""})


def test_nothing_is_a_file_and_a_folder() -> None:
    with pytest.raises(ConfigError, match="'a' is a file, and other files are inside it"):
        SourceTree({"a": b"", "a/b": b""})


@given(st.binary(max_size=64))
def test_bytes_that_are_no_tree_are_refused_as_damage(data: bytes) -> None:
    try:
        tree = SourceTree.from_bytes(data)
    except (DamagedRecordError, ConfigError):
        return
    assert SourceTree.from_bytes(tree.to_bytes()) == tree


@pytest.mark.parametrize("keep", [0, 1, 5])
def test_a_cut_tree_is_damaged(keep: int) -> None:
    with pytest.raises(DamagedRecordError, match="not an encoded source tree"):
        SourceTree.from_bytes(SourceTree({"policy.py": "x = 1"}).to_bytes()[:keep])


def test_a_folder_is_read_and_written(tmp_path: Path) -> None:
    tree = SourceTree({"policy.py": "x = 1", "lib/deep/w.bin": b"\0\1"})
    tree.write_to(tmp_path / "one")
    (tmp_path / "one" / "__pycache__").mkdir()
    (tmp_path / "one" / "__pycache__" / "x.pyc").write_bytes(b"")
    assert SourceTree.from_folder(tmp_path / "one") == tree


def test_what_is_no_folder_of_plain_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not exist; a program is a folder"):
        SourceTree.from_folder(tmp_path / "none")
    folder = tmp_path / "linked"
    folder.mkdir()
    (folder / "policy.py").symlink_to("/etc/hostname")
    with pytest.raises(ConfigError, match=r"policy\.py is a link"):
        SourceTree.from_folder(folder)


@pytest.mark.parametrize(
    ("limits", "message"), [({"max_bytes": 5}, "size limit"), ({"max_files": 1}, "more than 1 files")]
)
def test_a_folder_beyond_the_limits_is_refused(tmp_path: Path, limits: dict[str, int], message: str) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"1234")
    with pytest.raises(ConfigError, match=message):
        SourceTree.from_folder(tmp_path, **limits)
