from __future__ import annotations

import io
import re
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.protocols.post_training.posttraining_journals import SCRIPTS, script

from heredity import library
from heredity._core.errors import RecordError
from heredity.protocols.post_training.analysis.routes import (
    COPY,
    MISSING,
    ROUTES,
    Code,
    read_code,
    read_revision,
    route_of,
)

REFERENCE = Path(library.__path__[0]) / "agents" / "posttraining"

EXPECTED = {
    "trl_grpo": "GRPO",
    "trl_sft": "SFT-only",
    "trl_dpo_after_sft": "SFT+RL",
    "trl_ppo_subclass": "PPO",
    "torch_sft": "SFT-only",
    "torch_own_loss": "SFT-only",
    "trl_table": "GRPO",
    "torch_grpo": "GRPO",
    "torch_ppo": "PPO",
    "torch_dpo": "DPO",
    "torch_reinforce": "other RL",
    "rejection": "SFT-only",
    "trainer_with_dpo_loss": "DPO",
    "misleading_import": "SFT-only",
    "misleading_uncalled": "SFT-only",
    "misleading_flag": "SFT-only",
    "misleading_never_trained": MISSING,
    "misleading_comment": "GRPO",
    "misleading_no_step": MISSING,
    "placeholder": MISSING,
    "merge_only": MISSING,
    "broken_syntax": MISSING,
    "shell_trl": "GRPO",
    "several_files": "SFT+RL",
}


def code(name: str) -> Code:
    return read_code(script(name))


def test_every_sample_has_an_expectation() -> None:
    assert {path.name.partition(".")[0] for path in SCRIPTS.iterdir()} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_route_is_read_from_what_the_code_does(name: str) -> None:
    assert code(name).route == EXPECTED[name]


@pytest.mark.parametrize("name", [name for name, route in EXPECTED.items() if route != MISSING])
def test_evidence_names_lines_that_are_there(name: str) -> None:
    sources = script(name)
    evidence = [e for e in code(name).evidence if e.component not in ("sampling", "environment")]
    assert evidence
    for e in evidence:
        assert sources[e.file].decode().splitlines()[e.line - 1].strip() == e.text


def test_a_comment_is_no_evidence() -> None:
    (evidence,) = code("misleading_comment").evidence
    assert (evidence.component, evidence.text) == ("GRPO", 'grpo = GRPOTrainer("models/base", reward_funcs=len)')


def test_components_tell_what_a_label_leaves_out() -> None:
    assert code("trl_dpo_after_sft").components == ("SFT", "DPO")
    assert code("several_files").components == ("SFT", "GRPO")


def test_samples_and_environments_are_seen() -> None:
    assert [code(n).samples for n in ("rejection", "torch_sft", "several_files")] == [True, False, True]
    assert [code(n).environment for n in ("rejection", "torch_sft", "several_files")] == [False, False, True]


def test_what_cannot_be_parsed_is_listed() -> None:
    assert code("broken_syntax").unreadable == ("broken_syntax.py",)


def test_settings_are_the_constants_that_code_gives() -> None:
    assert code("trl_grpo").settings == {"beta": 0.0, "learning_rate": 1e-6, "num_generations": 8}
    assert code("torch_sft").settings == {"epochs": 3, "lr": 2e-4}


def test_settings_that_code_wrote_down_win() -> None:
    kept = {**script("torch_sft"), "settings.json": b'{"SFT_RATE": 0.01, "nested": {"a": 1}}'}
    assert read_code(kept).settings == {"SFT_RATE": 0.01}
    assert read_code({**script("torch_sft"), "settings.json": b"{"}).settings == {"epochs": 3, "lr": 2e-4}


def test_what_code_says_of_itself_is_read_where_it_changed() -> None:
    both = {**script("torch_sft"), **script("torch_dpo")}
    assert read_code(both, changed=["torch_sft.py"]).says == "Plain teacher forcing."
    assert read_code(both, changed=["torch_dpo.py"]).says == "Preferences without a trainer."


def test_a_script_speaks_for_the_modules_that_it_imports() -> None:
    sources = {
        "a_part.py": b'"""A part."""\ndef fit(loss, optimizer, labels): (loss + labels).backward(); optimizer.step()\n',
        "main.py": b'"""The whole.\n\nBecause it pays."""\nfrom a_part import fit\nfit(1, 2, 3)\n',
    }
    for changed in (["a_part.py", "main.py"], [], ["settings.json"]):
        reading = read_code(sources, changed)
        assert (reading.route, reading.says, reading.because) == ("SFT-only", "The whole.", "Because it pays.")


def test_an_excerpt_surrounds_the_evidence() -> None:
    reading = code("torch_sft")
    assert reading.excerpt is not None
    assert "loss_of(model, batch).backward()" in reading.excerpt.text
    assert code("placeholder").excerpt is None


def test_a_copy_is_told_by_its_weights() -> None:
    assert route_of(code("trl_grpo"), is_base=True) == COPY
    assert route_of(code("trl_grpo"), is_base=False) == "GRPO"
    assert route_of(None, is_base=False) is None


AGENTS = {"sft": "SFT-only", "sft-grpo": "SFT+RL", "rejection": "SFT-only", "copy": MISSING}


@pytest.mark.parametrize("route", AGENTS)
def test_the_reference_agents_are_labelled_by_what_they_copy_into_their_workspace(route: str) -> None:
    start = (REFERENCE / "start.sh").read_text()
    listed = re.search(rf"^ *{route}\) parts=\"(.*)\" ;;", start, re.MULTILINE)
    assert listed
    parts = [*listed[1].split(), f"route_{route.replace('-', '_')}"]
    reading = read_code({f"{part}.py": (REFERENCE / f"{part}.py").read_bytes() for part in parts})
    assert reading.route == AGENTS[route]


def archive(contents: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, data in contents.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
        link = tarfile.TarInfo("code/link.py")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    return buffer.getvalue()


def test_a_revision_is_read_without_its_links() -> None:
    assert read_revision(archive({"code/a.py": b"x = 1", "./b.py": b""})) == {"a.py": b"x = 1", "b.py": b""}


def test_what_is_no_archive_is_refused() -> None:
    with pytest.raises(RecordError, match="not a tar archive"):
        read_revision(b"not a tar archive")


@given(st.binary(max_size=200))
def test_no_source_makes_the_reader_fail(source: bytes) -> None:
    assert read_code({"a.py": source, "run.sh": source}).route in ROUTES


@pytest.mark.parametrize(
    "source",
    ["x = " + "+".join(["1"] * 3000), "a" + ".b" * 2500 + ".train()", "if " + "not " * 250 + "x: pass", "(" * 5000],
    ids=["sum", "chain", "negations", "brackets"],
)
def test_deep_expressions_are_listed_and_hide_no_other_file(source: str) -> None:
    reading = read_code({"a.py": source.encode(), **script("trl_grpo")})
    assert reading.route == "GRPO"
    assert reading.unreadable == ("a.py",)


@pytest.mark.parametrize(
    "source",
    [
        "class A(A): pass\nA().train()\n",
        "class A(B): pass\nclass B(A): pass\nA().train()\n",
        "class C0: pass\n" + "".join(f"class C{i + 1}(C{i}): pass\n" for i in range(3000)) + "C3000().train()\n",
        "".join(f"def f{i}():\n    return f{i + 1}()\n" for i in range(3000)) + "f0()\n",
    ],
    ids=["itself", "in turn", "classes", "calls"],
)
def test_names_in_a_circle_or_a_long_line_hide_nothing(source: str) -> None:
    reading = read_code({"a.py": source.encode(), **script("trl_grpo")})
    assert (reading.route, reading.unreadable) == ("GRPO", ())


def test_settings_nested_without_end_are_none() -> None:
    assert read_code({"settings.json": b'{"a": ' * 200_000, "b.py": b"x = 1"}).settings == {}
