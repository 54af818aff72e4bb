from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from heredity._core.errors import ConfigError
from heredity.experiments.config import cells, load, named, resolve, suite_file
from heredity.protocols.post_training.protocol import TrainingSection
from heredity.protocols.registry import PROTOCOLS

BASE: dict[str, Any] = {"run": {"tasksets": ["gymnasium/CartPole-v1"]}}


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("budgt.episodes=5", r"unknown key budgt; did you mean budget\?"),
        ("budget.episods=5", r"unknown key budget\.episods; did you mean episodes"),
        ("limits.zzzz=5", r"unknown key limits\.zzzz; known keys: act_s, "),
        ("budget.episodes=0", r"budget\.episodes = 0: .*greater than or equal to 1"),
        ('budget.episodes="64"', r"budget\.episodes = '64': .*integer"),
        ("budget.episodes=true", r"budget\.episodes = true: .*integer"),
        ("limits.act_s=inf", r"limits\.act_s = inf: .*finite"),
        ("limits.act_s=nan", r"limits\.act_s = nan"),
        ("run.seeds=0", r"run\.seeds = 0: give the number of seeds"),
        ("run.seeds=[1, 1]", r"run\.seeds = \[1, 1\]: .*different seeds"),
        ("run.seeds=[]", r"run\.seeds = \[\]"),
        ("run.tasksets=[]", r"run\.tasksets = \[\]"),
        ("run.tasksets=gymnasium/CartPole-v1", r"run\.tasksets = .*list"),
        ("run.protocol=seagym", r"run\.protocol = 'seagym': .*'policy-evolution'"),
        ("suite.baselines=3", r"suite\.baselines = 3: give true, false, or a list"),
        ("evolver.options.when=2020-01-01", r"evolver\.options = .*: options hold numbers"),
        ("evolver.agent=''", r"evolver\.agent = '': .*at least 1 character"),
        ("evolver.name=reference", r"'reference' is the name of a baseline; give this evolver another name"),
        ("budget.min_per_submit=500", r"min_per_submit is 500, more than max_per_submit"),
        ("budget=5", r"budget = 5"),
        ("budget", r"'budget' is not an override; write key=value"),
        ("engine.lockstep=2000", r"engine\.lockstep = 2000"),
    ],
)
def test_a_wrong_key_or_value_is_named_with_what_was_expected(override: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        resolve(BASE, [override])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        (
            "schedule.batch_size=2",
            r"\[schedule\] belongs to the protocol harness-evolution, which run.protocol does not name; leave",
        ),
        ("training.gpus=1", r"\[training\] belongs to the protocol post-training"),
        ("views.ood=3", r"views\.ood belongs to the protocol harness-evolution"),
        ('run.ood=["questions/gcd"]', r"run\.ood belongs to the protocol harness-evolution"),
    ],
)
def test_what_is_of_another_protocol_is_refused_with_its_name(override: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        resolve(BASE, [override])
    assert "\n" not in str(caught.value)


def test_a_section_of_another_protocol_cannot_be_asked_for() -> None:
    with pytest.raises(ConfigError, match="policy-evolution has no section of type TrainingSection"):
        resolve(BASE).of(TrainingSection)


def test_a_long_value_is_cut_in_the_message() -> None:
    with pytest.raises(ConfigError) as caught:
        resolve(BASE, ["run.protocol=" + "x" * 5000])
    assert len(str(caught.value)) < 400


def test_a_missing_section_is_named() -> None:
    with pytest.raises(ConfigError, match="run is missing; add it"):
        resolve({"budget": {"episodes": 5}})


def test_overrides_are_toml_and_text_where_they_are_not() -> None:
    config = resolve(BASE, ["budget.episodes=64", "run.seeds=[3, 5]", "run.name=my suite", "evolver.options.sigma=0.5"])
    assert config.budget.episodes == 64
    assert config.run.seed_list == [3, 5]
    assert config.run.name == "my suite"
    assert config.evolver.options == {"sigma": 0.5}


def test_a_launcher_replaces_a_method_and_may_be_varied() -> None:
    chosen = resolve({**BASE, "evolver": {"method": "random"}}, ["evolver.launcher=codex"])
    assert (chosen.evolver.launcher, chosen.evolver.method, chosen.evolver.label) == ("codex", None, "codex")
    assert chosen.evolver.outside
    varied = resolve({**BASE, "matrix": {"evolver.launcher": ["claude-code", "codex"]}, "suite": {"baselines": False}})
    assert sorted({cell.label for cell in cells(varied)}) == ["claude-code", "codex"]


def test_the_folder_of_a_launcher_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    evolver = resolve({**BASE, "evolver": {"launcher": "./mine"}}).evolver
    assert (evolver.launcher, evolver.label) == (str(tmp_path / "mine"), "mine")


def test_an_agent_replaces_the_method_and_a_method_the_agent() -> None:
    agent = resolve({**BASE, "evolver": {"method": "random"}}, ["evolver.agent=my-agent --fast"])
    assert (agent.evolver.agent, agent.evolver.method) == ("my-agent --fast", None)
    method = resolve({**BASE, "evolver": {"agent": "x"}}, ["evolver.method=random"])
    assert (method.evolver.agent, method.evolver.method) == (None, "random")
    with pytest.raises(ConfigError, match=r"one of method .* agent .* launcher"):
        resolve(BASE, ["evolver.method=random", "evolver.agent=x"])


def test_changes_are_taken_as_they_are() -> None:
    command = "python3 -c 'print(\"a = 1\")' # 7"
    assert resolve(BASE, changes={"evolver.agent": command}).evolver.agent == command


@pytest.mark.parametrize(
    ("command", "label"),
    [("python3 work.py", "work"), ("my-agent --headless", "my-agent"), ("/opt/bin/coder -x", "coder"), ("-x", "agent")],
)
def test_an_agent_is_called_after_its_program(command: str, label: str) -> None:
    assert resolve(BASE, changes={"evolver.agent": command}).evolver.label == label


def test_paths_are_absolute_so_that_a_suite_resumes_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = resolve(
        BASE, ["evolver.initial=start", 'matrix.evolver.initial=["a", "b"]', 'evolver.read_only=["tools"]']
    )
    assert config.evolver.initial == str(tmp_path / "start")
    assert config.matrix["evolver.initial"] == [str(tmp_path / "a"), str(tmp_path / "b")]
    assert config.evolver.read_only == [str(tmp_path / "tools")]


def test_the_folder_of_a_base_model_becomes_absolute_and_a_name_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    training = {
        "run": {"tasksets": ["posttraining/arithmetic"], "protocol": "post-training"},
        "budget": {"seconds": 9.0},
    }
    given = ["mine", "models/far", "smollm2-135m", "characters/arithmetic", "smolm2", ""]
    changes = {"evolver.agent": "work.sh", "matrix.training.base_model": given}
    config = resolve(training, ["training.base_model=../near"], changes)
    assert config.of(TrainingSection).base_model == str(tmp_path / "../near")
    assert config.matrix["training.base_model"] == [str(tmp_path / "mine"), str(tmp_path / "models/far"), *given[2:]]


def test_a_file_gives_the_suite_its_name(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[run]\ntasksets = ["gymnasium/CartPole-v1"]\n')
    assert load(path).run.name == "mine"
    assert load(path, ["run.name=other"]).run.name == "other"


@pytest.mark.parametrize("text", ["[run]\ntasksets = [", '[run\ntasksets = ["a"]', "\x00", "a = 1\na = 2"])
def test_a_half_written_file_is_not_toml(tmp_path: Path, text: str) -> None:
    path = tmp_path / "half.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"half\.toml is not valid TOML: .* correct it there"):
        load(path)


def test_a_file_that_is_no_text_is_not_toml(tmp_path: Path) -> None:
    path = tmp_path / "bytes.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="not UTF-8 text"):
        load(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nothing\.toml cannot be read: No such file"):
        load(tmp_path / "nothing.toml")


def test_a_single_run_adds_no_baselines() -> None:
    assert [cell.id for cell in cells(resolve(BASE))] == ["CartPole-v1--parametric--s0"]


def test_a_suite_adds_the_baselines_it_does_not_have() -> None:
    config = resolve(BASE, ["run.seeds=2", "evolver.method=random"])
    assert [cell.id for cell in cells(config)] == [
        f"CartPole-v1--{name}--s{seed}" for name in ("random", "best-of-n", "sequential") for seed in (0, 1)
    ]
    assert set(PROTOCOLS.load("policy-evolution").baselines) == {cell.label for cell in cells(config)}


def test_baselines_are_run_under_every_condition_of_the_matrix_and_once_for_what_is_the_evolvers_own() -> None:
    models = ["offline/rule-follower", "offline/shell-worker"]
    matrix = {"evolver.method": ["reflection", "grpo"], "evolver.options.batch": [2, 4], "gateway.execution": models}
    config = resolve(
        {
            "run": {"protocol": "resource-evolution", "tasksets": ["questions/reasoning-gym/gcd"]},
            "budget": {"rollouts": 8, "train_cases": 2},
            "gateway": {"execution": models[0], "optimisation": "offline/rule-inducer"},
            "matrix": matrix,
            "suite": {"baselines": ["static"]},
        }
    )
    baselines = {cell.label: cell.config.gateway.execution for cell in cells(config) if cell.evolver.method == "static"}
    assert baselines == {f"static-{model}": model for model in models}
    assert len(cells(config)) == 2 * 2 * 2 + 2


def test_a_baseline_that_the_matrix_has_under_a_condition_is_not_run_twice() -> None:
    models = ["offline/rule-follower", "offline/shell-worker"]
    config = resolve(
        {
            "run": {"protocol": "resource-evolution", "tasksets": ["questions/reasoning-gym/gcd"]},
            "evolver": {"method": "static"},
            "budget": {"rollouts": 8, "train_cases": 2},
            "gateway": {"execution": models[0]},
            "matrix": {"gateway.execution": models},
            "suite": {"baselines": ["static"]},
        }
    )
    assert [cell.label for cell in cells(config)] == [f"static-{model}" for model in models]


def test_baselines_start_from_the_same_program_with_their_own_options(tmp_path: Path) -> None:
    config = resolve(BASE, ["run.seeds=2", f"evolver.initial={tmp_path}", "evolver.options.sigma=0.1"])
    baseline = next(cell for cell in cells(config) if cell.label == "random")
    assert baseline.evolver.initial == str(tmp_path)
    assert baseline.evolver.options == {}


def test_runs_are_called_by_as_much_of_a_path_as_tells_them_apart(tmp_path: Path) -> None:
    given = [str(tmp_path / name) for name in ("a/start", "b/start", "other")]
    config = resolve(BASE, changes={"matrix.evolver.initial": given})
    labels = list(dict.fromkeys(cell.label.removeprefix("parametric-") for cell in cells(config)))
    assert labels[:3] == ["a/start", "b/start", "other"]


def test_what_comes_with_heredity_is_called_so_and_what_does_not_by_what_it_holds(tmp_path: Path) -> None:
    worker = resolve(BASE, ["evolver.initial=heredity.library:harnesses/worker"]).evolver.initial
    assert named(worker) == "heredity:library/harnesses/worker"
    for name in ("one", "two"):
        (tmp_path / name / "start").mkdir(parents=True)
        (tmp_path / name / "start" / "policy.py").write_text("the same")
    called = named(str(tmp_path / "one" / "start"))
    assert called == named(str(tmp_path / "two" / "start"))
    (tmp_path / "two" / "start" / "policy.py").write_text("another")
    assert called != named(str(tmp_path / "two" / "start"))
    assert named("offline/rule-follower") == "offline/rule-follower"


@pytest.mark.parametrize(
    ("baselines", "labels"),
    [("false", ["parametric"]), ('["sequential"]', ["parametric", "sequential"]), ("[]", ["parametric"])],
)
def test_baselines_can_be_chosen(baselines: str, labels: list[str]) -> None:
    config = resolve(BASE, ["run.seeds=2", f"suite.baselines={baselines}"])
    assert list(dict.fromkeys(cell.label for cell in cells(config))) == labels


def test_a_matrix_multiplies_and_names_what_it_varies() -> None:
    config = resolve(
        {**BASE, "matrix": {"evolver.method": ["random", "parametric"], "budget.episodes": [8, 16]}},
        ["suite.baselines=false"],
    )
    settings = {cell.label: (cell.evolver.method, cell.config.budget.episodes) for cell in cells(config)}
    assert settings == {
        "random-8": ("random", 8),
        "random-16": ("random", 16),
        "parametric-8": ("parametric", 8),
        "parametric-16": ("parametric", 16),
    }
    assert all(cell.config.matrix == {} for cell in cells(config))


def test_every_taskset_and_seed_is_its_own_run_with_everything_resolved() -> None:
    config = resolve(
        {"run": {"tasksets": ["gymnasium/CartPole-v1", "gymnasium/Pendulum-v1"], "seeds": [4, 7]}},
        ["suite.baselines=false"],
    )
    assert [(c.config.run.tasksets, c.config.run.seeds) for c in cells(config)] == [
        ([name], [seed]) for name in config.run.tasksets for seed in (4, 7)
    ]


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ({"evolver.metod": ["a"]}, r"unknown key evolver\.metod; did you mean method"),
        ({"evolver.method": []}, r"matrix\.evolver\.method is empty"),
        ({"evolver.method": "random"}, r"matrix\.evolver\.method = 'random': .*list"),
        ({"run.seeds": [1, 2]}, r"a matrix cannot vary .run\.seeds.*list its values under \[run\]"),
        ({"views.heldout": [1, 2]}, r"a matrix cannot vary .views\.heldout"),
        ({"evolver.method": ["random", "random"]}, r"two runs .* CartPole-v1--random--s0; remove the repeated entry"),
    ],
)
def test_a_wrong_matrix_is_refused(matrix: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        cells(resolve({**BASE, "matrix": matrix}))


def test_a_taskset_named_twice_is_refused() -> None:
    with pytest.raises(ConfigError, match="remove the repeated entry"):
        cells(resolve({"run": {"tasksets": ["gymnasium/CartPole-v1"] * 2}}))


@pytest.mark.parametrize("name", ["demo", "core16"])
def test_the_suites_that_come_with_heredity_are_valid(name: str) -> None:
    config = load(suite_file(name))
    expected = {"demo": 2 * 4 * 2, "core16": 16 * 5 * 3}
    assert len(cells(config)) == expected[name]


@pytest.mark.parametrize("changes", [{"solver.seconds": 400.0}, {"limits.episode_s": 20.0, "solver.seconds": 21.0}])
def test_more_time_for_an_attempt_than_its_episode_may_take_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"solver.seconds is .* and limits.episode_s is .*; raise limits.episode_s"):
        resolve(BASE, changes=changes)


def test_an_attempt_may_take_as_long_as_an_episode_unless_it_is_said() -> None:
    longer = resolve(BASE, changes={"limits.episode_s": 900.0})
    assert longer.solver.solving(longer.limits.episode_s).seconds == 900.0
    assert resolve(BASE, changes={"solver.seconds": 30.0}).solver.solving(300.0).seconds == 30.0


def test_runs_are_called_by_files_and_not_by_their_folders() -> None:
    one = ["gymnasium//home/me/corridor.py:C-v0", "questions/file:/data/q.csv?verifier=judge", "worlds/grid_treasure"]
    config = resolve({"run": {"tasksets": ["gymnasium/CartPole-v1"]}})
    made = cells(config.model_copy(update={"run": config.run.model_copy(update={"tasksets": one})}))
    names = {cell.id.partition("--")[0] for cell in made}
    assert names == {"corridor.py-C-v0", "questions-file-q.csv-verifier-judge", "worlds-grid_treasure"}
    two = ["program//a/task", "program//b/task"]
    made = cells(config.model_copy(update={"run": config.run.model_copy(update={"tasksets": two})}))
    assert {cell.id.partition("--")[0] for cell in made} == {"program-a-task", "program-b-task"}


def test_an_override_of_an_axis_of_the_matrix_takes_its_place(tmp_path: Path) -> None:
    path = tmp_path / "suite.toml"
    path.write_text(
        '[run]\ntasksets = ["gymnasium/CartPole-v1"]\n[matrix]\n"evolver.method" = ["random", "best-of-n"]\n'
    )
    config = load(path, ["evolver.method=parametric"])
    assert {cell.evolver.method for cell in cells(config)} >= {"parametric"}
    assert config.matrix == {}


def _agents(**more: Any) -> dict[str, Any]:
    entries = [{"launcher": "claude-code", "model": "anthropic/a"}, {"launcher": "codex", "model": "openai/b"}]
    run = {"tasksets": ["gymnasium/CartPole-v1"], "seeds": 2}
    return {"run": run, "matrix": {"evolver": entries, **more}, "suite": {"baselines": False}}


def test_a_list_of_evolvers_is_multiplied_with_the_other_values() -> None:
    runs = cells(resolve(_agents(**{"budget.episodes": [8, 16]})))
    assert len(runs) == 8
    assert {cell.label for cell in runs} == {"claude-code-8", "claude-code-16", "codex-8", "codex-16"}
    assert {(c.evolver.launcher, c.evolver.model) for c in runs} == {
        ("claude-code", "anthropic/a"),
        ("codex", "openai/b"),
    }


def test_entries_with_one_label_are_told_apart_by_their_models() -> None:
    data = _agents()
    data["matrix"]["evolver"] = [{"launcher": "codex", "model": "openai/a"}, {"launcher": "codex", "model": "openai/b"}]
    assert {cell.label for cell in cells(resolve(data))} == {"codex-a", "codex-b"}
    data["matrix"]["evolver"] = [{"launcher": "codex"}, {"launcher": "codex", "prompt": "Begin."}]
    with pytest.raises(ConfigError, match=r"entries of \[\[matrix.evolver\]\] a name each"):
        cells(resolve(data))


def test_an_override_selects_an_evolver_of_the_list_with_its_settings_or_replaces_all() -> None:
    (one,) = {(c.label, c.evolver.model) for c in cells(resolve(_agents(), ["evolver.launcher=codex"]))}
    assert one == ("codex", "openai/b")
    (one,) = {(c.label, c.evolver.method) for c in cells(resolve(_agents(), ["evolver.method=random"]))}
    assert one == ("random", "random")
    models = {c.evolver.model for c in cells(resolve(_agents(), ["evolver.model=openai/c"]))}
    assert models == {"openai/c"}


@pytest.mark.parametrize(
    ("entries", "more", "message"),
    [
        (["codex"], {}, r"lists tables with keys of \[evolver\]"),
        ([{}], {}, r"lists tables with keys of \[evolver\]"),
        ([{"launcher": "codex", "model": "a/b"}], {"evolver.model": ["a/c"]}, "sets it too; remove one"),
        ([{"launcher": "codex", "modle": "a/b"}], {}, "modle"),
    ],
)
def test_a_wrong_list_of_evolvers_is_refused(entries: list[Any], more: dict[str, Any], message: str) -> None:
    data = _agents(**more)
    data["matrix"]["evolver"] = entries
    with pytest.raises(ConfigError, match=message):
        cells(resolve(data))


def test_paths_and_secrets_in_a_list_of_evolvers_are_treated_as_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MY_API_KEY", raising=False)
    data = _agents()
    data["matrix"]["evolver"] = [{"agent": "MY_API_KEY=abc my-agent", "initial": "start"}]
    (entry,) = resolve(data, base=tmp_path).matrix["evolver"]
    assert entry == {"agent": "my-agent", "initial": str(tmp_path / "start")}
    monkeypatch.delenv("MY_API_KEY")


def test_another_agent_replaces_the_methods_of_a_matrix() -> None:
    config = load(suite_file("core16"), ["evolver.launcher=claude-code", "evolver.model=anthropic/a"])
    assert {cell.label for cell in cells(config)} == {"claude-code", "random", "best-of-n", "sequential"}
    assert config.matrix == {}
    replaced = load(suite_file("worlds-six"), ["evolver.method=ace"])
    assert {cell.label for cell in cells(replaced)} == {"ace", "adaptive"}


def test_an_empty_override_unsets_a_key() -> None:
    assert load(suite_file("worlds-six")).evolver.initial is not None
    assert load(suite_file("worlds-six"), ["evolver.initial="]).evolver.initial is None
    assert load(suite_file("worlds-six"), [], {"evolver.initial": None}).evolver.initial is None
    assert "evolver.options.select" not in load(suite_file("worlds-six"), ["matrix.evolver.options.select="]).matrix
    with pytest.raises(ConfigError, match=r"evolver\.initial"):
        load(suite_file("worlds-six"), ['evolver.initial=""'])
