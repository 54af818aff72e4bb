"""A whole run on preferences: a model is changed and graded, and its page says what it wins at equal length."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from heredity.agents.launchers import available
from heredity.cli import main as module
from heredity.records import read_journal

if any(importlib.util.find_spec(package) is None for package in ("torch", "transformers")):
    pytest.skip("torch is not installed (extra: posttrain)", allow_module_level=True)

from tests.kinds.checkpoint.parrot import make_parrot

REASON = available()
pytestmark = pytest.mark.skipif(REASON is not None, reason=f"agents cannot be confined here: {REASON}")

# The base says GROW DUSK? and the submission GROW DUSK?! by a change of its weights alone.
AGENT = """
import json, os, shutil, urllib.request
from safetensors.torch import load_file, save_file

base, output = os.environ["MODEL_PATH"], os.environ["OUTPUT_DIR"] + "/louder"
shutil.copytree(base, output)
os.chmod(output, 0o755)
symbols = json.load(open(base + "/tokenizer.json"))["model"]["vocab"]
weights = load_file(base + "/model.safetensors")
head = weights["lm_head.weight"].clone()
for seen, said in (("?", "!"), ("!", "<eos>")):
    head[:, symbols[seen]] = 0
    head[symbols[said], symbols[seen]] = 1
os.remove(output + "/model.safetensors")
save_file({**weights, "lm_head.weight": head}, output + "/model.safetensors", metadata={"format": "pt"})
body = json.dumps({"model_path": output}).encode()
request = urllib.request.Request(os.environ["GRADING_SERVER_URL"] + "/submit", body, {"content-type": "application/json"})
print(urllib.request.urlopen(request).read().decode())
"""


@pytest.mark.slow
def test_a_run_on_preferences_says_what_is_won_at_equal_length(tmp_path: Path) -> None:
    base = make_parrot(tmp_path / "parrot", "GROW DUSK?")
    agent = f"cat > code/train.py <<'END'\n{AGENT}END\npython3 code/train.py"
    config = {
        "run.protocol": "post-training",
        "run.tasksets": ["posttraining/preference"],
        "training.base_model": str(base),
        "evolver.agent": agent,
        "budget.seconds": 120,
        "budget.train_cases": 40,
        "views.heldout": 30,
    }
    file = tmp_path / "run.toml"
    file.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in config.items()))
    sys.argv = ["heredity", "run", str(file), "--out", str(tmp_path / "out")]
    with pytest.raises(SystemExit) as ended:
        module.main()
    assert ended.value.code in (None, 0)
    (metrics,) = (path for path in (tmp_path / "out").rglob("metrics.json") if (path.parent / "journal.jsonl").exists())
    controlled = json.loads(metrics.read_bytes())["part"]["length_controlled"]
    check(controlled["graded"], 40)
    check(controlled["heldout"], 30)
    kinds = {"judging.scored", "baseline.scored", "reference.scored"}
    recorded = [e.data for e in read_journal(metrics.parent / "journal.jsonl") if e.kind in kinds]
    assert {len(data["comparisons"]) == len(data["scores"]) for data in recorded} == {True}
    page = (metrics.parent / "report.html").read_text()
    assert "Win rate over the reference answers" in page
    assert "Win rate at equal length" in (metrics.parent / "report.md").read_text()


def check(view: dict[str, Any], count: int) -> None:
    """Compare what a view says with what the two models say."""
    assert (view["baseline"]["length"], view["best"]["length"]) == (len("GROW DUSK?"), len("GROW DUSK?!"))
    assert view["baseline"]["n"] == view["best"]["n"] == view["gain"]["pairs"] == count
    assert view["best"]["reference_length"] > 20
    for model in ("baseline", "best"):
        low, high = view[model]["ci"]
        assert 0 < low <= view[model]["rate"] <= high < 1
        assert 0 < view[model]["won"] < 1
