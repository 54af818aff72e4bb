from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from heredity._core.errors import ConfigError, DamagedRecordError, IsolationError, UnknownNameError
from heredity.resources import OPERATORS, TYPES, Registry, Store
from heredity.resources.assembly import candidate_from_folder

FILES: dict[str, Any] = {
    "prompt": "Answer {{question}} in one word.",
    "agent": {"policy.py": "class Policy: ...\n"},
    "tool": {"tool.py": "def run(a, b):\n    return a + b\n"},
    "environment": {"environment.json": '{"id": "CartPole-v1"}'},
    "memory": {"notes.jsonl": '{"insight": "check the units"}\n'},
    "model": {"model.json": '{"provider": "local", "name": "tiny"}'},
}
ABOUT = {"description": "adds two numbers", "arguments": {"type": "object", "properties": {"a": {"type": "number"}}}}


@pytest.fixture
def registry(tmp_path: Path) -> Any:
    with Store(tmp_path / "resources.db") as store:
        yield Registry(store)


def with_all(registry: Registry) -> Registry:
    for type_, files in FILES.items():
        registry.register(type_, f"a-{type_}", files, ABOUT if type_ == "tool" else {"parameters": {"k": 1}})
    return registry


def test_every_operator_of_the_paper_is_there() -> None:
    assert len(OPERATORS) == 19 + len(("versions", "log", "diff", "save_to_folder"))
    assert all(callable(getattr(Registry, name)) for name in OPERATORS)


@pytest.mark.parametrize("type_", TYPES)
def test_every_type_goes_through_the_same_operators(registry: Registry, type_: str, tmp_path: Path) -> None:
    name = f"a-{type_}"
    with_all(registry)
    assert registry.list(type_) == [f"{type_}/{name}"]
    assert registry.get(type_, name).version.number == registry.get(type_, name, "1.0.0").version.number
    second = registry.update(type_, name, manifest={"metadata": {"tried": True}})
    assert (str(second.number), registry.store.tree(second)) == ("1.0.1", registry.get(type_, name, "1.0.0").tree)
    variables = registry.get_variables(type_, name)
    third = registry.set_variables(type_, name, {"parameters.k": 2} if type_ != "tool" else variables)
    assert third.parents == (second.digest,)
    assert registry.copy(type_, name, "another").parents == (third.digest,)
    assert registry.restore(type_, name, "1.0.0").number == registry.get(type_, name).version.number
    state = registry.get_state(type_, name)
    assert (state["branches"]["main"]["version"], state["versions"]) == ("1.0.0", 3)
    assert state["branches"]["main"]["fault"] is None
    assert registry.save_contract(type_, name, tmp_path).read_text().startswith(f"---\nname: {name}\n")
    assert registry.get_info(type_, name)["manifest"]["description"] == ("adds two numbers" if type_ == "tool" else "")


def test_an_update_after_a_restore_keeps_both(registry: Registry) -> None:
    first = registry.register("prompt", "p", "one")
    second = registry.update("prompt", "p", "two")
    registry.restore("prompt", "p", "1.0.0")
    third = registry.update("prompt", "p", "three")
    assert (str(third.number), third.parents) == ("1.0.2", (first.digest,))
    assert registry.store.list("prompt", "p") == [first, second, third]
    assert [registry.get("prompt", "p", f"1.0.{i}").value for i in range(3)] == ["one", "two", "three"]
    assert [m.action for m in registry.store.moves("prompt", "p")] == ["register", "update", "restore", "update"]


def test_a_branch_moves_alone(registry: Registry) -> None:
    registry.register("prompt", "p", "one")
    registry.restore("prompt", "p", "1.0.0", branch="bold")
    registry.update("prompt", "p", "two!", branch="bold", part="minor")
    assert registry.get("prompt", "p").value == "one"
    assert registry.get("prompt", "p", branch="bold").version.label == "prompt/p@1.1.0"


def test_unregistering_hides_and_keeps_the_history(registry: Registry) -> None:
    registry.register("prompt", "p", "one")
    registry.unregister("prompt", "p")
    assert registry.list() == []
    assert registry.list(hidden=True) == ["prompt/p"]
    for attempt in (lambda: registry.get("prompt", "p"), lambda: registry.update("prompt", "p", "x")):
        with pytest.raises(ConfigError, match="unregistered; restore"):
            attempt()
    assert registry.get("prompt", "p", "1.0.0").value == "one"
    with pytest.raises(ConfigError, match="registered already"):
        registry.register("prompt", "p", "new")
    registry.restore("prompt", "p", "1.0.0")
    assert registry.list() == ["prompt/p"]


BROKEN: dict[str, Any] = {
    "prompt": "  \n",
    "agent": {"policy.py": "def (:\n"},
    "tool": {"notes.md": "x"},
    "environment": {"environment.json": "[1]"},
    "memory": {"notes.jsonl": "{}\n{oh"},
    "model": {"model.json": "{"},
}


@pytest.mark.parametrize("type_", TYPES)
def test_what_cannot_be_built_never_replaces_what_can(registry: Registry, type_: str) -> None:
    name = f"a-{type_}"
    with_all(registry)
    before = registry.get(type_, name)
    with pytest.raises(ConfigError, match=f"{type_}/{name}"):
        registry.update(type_, name, BROKEN[type_])
    with pytest.raises(ConfigError, match=f"{type_}/a-new"):
        registry.register(type_, "a-new", BROKEN[type_], ABOUT if type_ == "tool" else None)
    assert registry.get(type_, name) == before
    assert len(registry.store.list(type_, name)) == 1
    assert registry.list(type_) == [f"{type_}/{name}"]


def test_code_is_not_executed_in_this_process(registry: Registry, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    registry.register("tool", "sly", {"tool.py": f"open({str(mark)!r}, 'w')\n"}, {"description": "sly"})
    registry.get("tool", "sly")
    with pytest.raises(IsolationError, match="run it in the sandbox"):
        registry.run("tool", "sly", {})
    assert not mark.exists()


def test_a_prompt_is_run_by_filling_its_places(registry: Registry) -> None:
    registry.register("prompt", "p", "{{ a }} and {{b}} and {{ a }} but not {c}")
    assert registry.run("prompt", "p", {"a": "{{b}}", "b": 2}) == "{{b}} and 2 and {{b}} but not {c}"
    with pytest.raises(ConfigError, match="takes a, b, and was given a"):
        registry.run("prompt", "p", {"a": 1})


def test_a_cyclic_dependency_is_refused(registry: Registry) -> None:
    registry.register("prompt", "a", "a")
    registry.register("prompt", "b", "b", {"pins": {"prompt/a": "1.0.0"}})
    registry.register("prompt", "c", "c", {"pins": {"prompt/b": "1.0.0"}})
    with pytest.raises(ConfigError, match="prompt/a needs prompt/c needs prompt/b needs prompt/a"):
        registry.update("prompt", "a", manifest={"pins": {"prompt/c": "1.0.0"}})
    with pytest.raises(UnknownNameError, match=r"did you mean 1\.0\.0"):
        registry.update("prompt", "c", manifest={"pins": {"prompt/b": "1.0.7"}})
    assert registry.get_state("prompt", "a")["versions"] == 1


def test_variables_that_may_not_change_do_not(registry: Registry) -> None:
    registry.register("prompt", "p", "one", {"evolvable": False})
    with pytest.raises(ConfigError, match="not evolvable"):
        registry.set_variables("prompt", "p", {"prompt.md": "two"})
    registry.update("prompt", "p", manifest={"evolvable": True})
    with pytest.raises(UnknownNameError, match=r"did you mean prompt\.md"):
        registry.set_variables("prompt", "p", {"promt.md": "two"})
    registry.set_variables("prompt", "p", {"prompt.md": "two"})
    assert registry.get("prompt", "p").value == "two"


def test_operators_are_called_by_name_and_bad_calls_are_explained(registry: Registry) -> None:
    registry.operate("register", type_="prompt", name="p", files="one")
    assert registry.operate("list") == ["prompt/p"]
    with pytest.raises(UnknownNameError, match="did you mean restore"):
        registry.operate("restor")
    with pytest.raises(ConfigError, match="missing a required argument: 'name'"):
        registry.operate("get", type_="prompt")
    with pytest.raises(UnknownNameError, match="did you mean memory"):
        registry.operate("register", type_="memroy", name="p", files="one")


def test_retrieval_ranks_what_a_question_is_about(registry: Registry) -> None:
    registry.register("prompt", "algebra", "Solve the equation for x.")
    registry.register("prompt", "poet", "Write a poem about the sea.")
    registry.register("memory", "sea-notes", {"a.md": "The sea is deep; the sea is blue."})
    assert [v.name for v, _ in registry.retrieve("sea")] == ["sea-notes", "poet"]
    assert [v.name for v, _ in registry.retrieve("equations? solve one", "prompt")] == ["algebra"]
    assert registry.retrieve("volcano") == []


def test_json_brings_everything_to_another_store(registry: Registry, tmp_path: Path) -> None:
    with_all(registry)
    registry.update("prompt", "a-prompt", "second", {"metadata": {"é": [1, None]}})
    registry.update("agent", "a-agent", {"policy.py": "", "weights.npy": b"\xff\x00"})
    registry.restore("prompt", "a-prompt", "1.0.0")
    registry.unregister("model", "a-model")
    assert registry.save_to_json(tmp_path / "all.json") == 8
    with Store(tmp_path / "other.db") as store:
        other = Registry(store)
        assert other.load_from_json(tmp_path / "all.json") == 8
        assert other.load_from_json(tmp_path / "all.json") == 0
        assert list(store.versions()) == list(registry.store.versions())
        assert other.list() == registry.list()
        assert other.list(hidden=True) == registry.list(hidden=True)
        assert str(other.get("prompt", "a-prompt").version.number) == "1.0.0"
        assert other.get("agent", "a-agent").tree["weights.npy"] == b"\xff\x00"
        assert store.check() == []


def test_a_changed_export_is_refused_whole(registry: Registry, tmp_path: Path) -> None:
    with_all(registry).save_to_json(tmp_path / "all.json")
    text = (tmp_path / "all.json").read_text()
    for changed in (text.replace("in one word", "in two words"), text.replace('"k": 1', '"k": 2', 1), text[:-50]):
        assert changed != text
        (tmp_path / "changed.json").write_text(changed)
        with Store(tmp_path / "other.db") as store:
            with pytest.raises(DamagedRecordError, match=r"changed\.json"):
                Registry(store).load_from_json(tmp_path / "changed.json")
            assert store.list() == []


def test_an_import_never_overwrites_a_version(registry: Registry, tmp_path: Path) -> None:
    registry.register("prompt", "p", "theirs")
    registry.save_to_json(tmp_path / "all.json")
    with Store(tmp_path / "other.db") as store:
        other = Registry(store)
        other.register("prompt", "p", "mine")
        with pytest.raises(ConfigError, match="is here already and differs"):
            other.load_from_json(tmp_path / "all.json")
        assert other.get("prompt", "p").value == "mine"


def test_a_folder_is_registered_once_and_updated_where_it_changed(registry: Registry, tmp_path: Path) -> None:
    for type_, name, file, text in (("prompt", "p", "prompt.md", "one"), ("tool", "add", "tool.py", "x = 1\n")):
        (tmp_path / "all" / type_ / name).mkdir(parents=True)
        (tmp_path / "all" / type_ / name / file).write_text(text)
    with pytest.raises(ConfigError, match="description of tool/add"):
        registry.init(tmp_path / "all")
    assert registry.list() == []
    (tmp_path / "all" / "tool" / "add" / "resource.json").write_text(json.dumps(ABOUT))
    assert [v.label for v in registry.init(tmp_path / "all")] == ["prompt/p@1.0.0", "tool/add@1.0.0"]
    assert registry.init(tmp_path / "all") == []
    (tmp_path / "all" / "prompt" / "p" / "prompt.md").write_text("two")
    assert [v.label for v in registry.init(tmp_path / "all")] == ["prompt/p@1.0.1"]


def test_a_contract_is_a_skill_and_comes_back(registry: Registry, tmp_path: Path) -> None:
    registry.register("tool", "add", FILES["tool"], ABOUT)
    path = registry.save_contract("tool", "add", tmp_path)
    assert path == tmp_path / "add" / "SKILL.md"
    assert "- `a` (number, optional)" in path.read_text()
    assert registry.load_contract(path).label == "tool/add@1.0.0"
    path.write_text(path.read_text().replace("adds two numbers", "says 'how much'"))
    changed = registry.load_contract(path)
    assert (changed.label, changed.manifest.description) == ("tool/add@1.0.1", "says 'how much'")
    assert registry.get_info("tool", "add")["function"]["description"] == "says 'how much'"
    registry.save_contract("tool", "add", tmp_path / "again")
    assert registry.load_contract(tmp_path / "again" / "add").label == "tool/add@1.0.1"


def test_what_a_tool_takes_is_known_from_its_signature(registry: Registry, tmp_path: Path) -> None:
    code = {"tool.py": "async def run(a: int, b: float = 0.0) -> float:\n    return a + b\n"}
    registry.register("tool", "add", code, {"description": "adds two numbers"})
    parameters = registry.get_info("tool", "add")["function"]["parameters"]
    assert parameters["properties"] == {"a": {"type": "integer"}, "b": {"type": "number"}}
    assert parameters["required"] == ["a"]
    text = registry.save_contract("tool", "add", tmp_path).read_text()
    assert "- `a` (integer)\n- `b` (number, optional)" in text
    registry.register("tool", "odd", {"tool.py": "x = 1\n"}, {"description": "nothing to call"})
    odd = registry.get_info("tool", "odd")
    assert "function" not in odd
    assert "defines no function run" in odd["fault"]


def test_the_contract_of_a_prompt_comes_back_as_that_of_a_prompt(registry: Registry, tmp_path: Path) -> None:
    registry.register("prompt", "p", "Say {{x}}.", {"description": "Says it."})
    path = registry.save_contract("prompt", "p", tmp_path)
    assert registry.load_contract(path).label == "prompt/p@1.0.0"
    path.write_text(path.read_text().replace("Says it.", "Repeats it."))
    assert registry.load_contract(path).label == "prompt/p@1.0.1"
    assert registry.get("prompt", "p").version.manifest.description == "Repeats it."
    assert registry.get("prompt", "p").value == "Say {{x}}."
    assert registry.list() == ["prompt/p"]
    with Store(tmp_path / "other.db") as store:
        with pytest.raises(ConfigError, match="describes prompt/p, which is not here"):
            Registry(store).load_contract(path)
        path.write_text(path.read_text().replace("type: prompt", "type: promt"))
        with pytest.raises(ConfigError, match="did you mean prompt"):
            Registry(store).load_contract(path)
        assert Registry(store).list() == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: add\n", "no front matter"),
        ("---\nname: Add\ndescription: x\n---\n", "lower-case"),
        ("---\nname: sum\ndescription: x\n---\n", "folder must have the same name"),
        ("---\nname: add\ndescription:\n---\n", "write 1 to 4096"),
        (f"---\nname: add\ndescription: {'x' * 4097}\n---\n", "4097 characters"),
        ("---\nname: add\ndescription: *x\n---\n", "in double quotes|has no meaning"),
        ("---\nname: add\ndescripton: x\n---\n", "did you mean description"),
    ],
)
def test_a_bad_contract_is_refused(registry: Registry, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "add").mkdir()
    (tmp_path / "add" / "SKILL.md").write_text(text)
    with pytest.raises(ConfigError, match=message):
        registry.load_contract(tmp_path / "add")
    assert registry.list() == []


def test_a_skill_of_plain_front_matter_becomes_a_tool(registry: Registry, tmp_path: Path) -> None:
    (tmp_path / "add").mkdir()
    text = "---\nname: add\ndescription: Adds: two numbers\nmetadata:\n  author: 'me'\n---\n\nAdd them.\n"
    (tmp_path / "add" / "SKILL.md").write_text(text)
    assert registry.load_contract(tmp_path / "add").manifest.description == "Adds: two numbers"
    assert registry.get("tool", "add").tree.text("SKILL.md") == text


def test_a_path_may_be_given_as_a_text(registry: Registry, tmp_path: Path) -> None:
    with_all(registry)
    registry.save_to_json(f"{tmp_path}/all.json")
    contract = registry.save_contract("tool", "a-tool", f"{tmp_path}/contracts")
    with Store(f"{tmp_path}/other.db") as store:
        other = Registry(store)
        assert other.load_from_json(f"{tmp_path}/all.json") == len(list(registry.store.versions()))
        assert other.load_contract(str(contract.parent)).name == "a-tool"
        (tmp_path / "folder" / "prompt" / "new").mkdir(parents=True)
        (tmp_path / "folder" / "prompt" / "new" / "prompt.md").write_text("hello")
        assert [version.name for version in other.init(f"{tmp_path}/folder")] == ["new"]


def test_every_resource_of_a_folder_that_cannot_be_built_is_named(tmp_path: Path) -> None:
    for name, about in (("sound", '{"description": "d"}'), ("silent", "{}"), ("odd", "[]")):
        folder = tmp_path / "given" / "tool" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text("Do it.")
        (folder / "resource.json").write_text(about)
    with Store(tmp_path / "kept.db") as store, pytest.raises(ConfigError) as refused:
        Registry(store).init(tmp_path / "given")
    with pytest.raises(ConfigError) as unusable:
        candidate_from_folder(tmp_path / "given")
    for error in (refused, unusable):
        assert "tool/silent" in str(error.value)
        assert "odd" in str(error.value)
        assert "sound" not in str(error.value)
