"""The agents that are shipped, where a busy machine has taken their time; torch is stood in for, so that none is needed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from heredity import library

from .grading_server import grading_server

LIBRARY = Path(library.__path__[0])
AGENTS = LIBRARY / "agents" / "posttraining"
TRAIN = LIBRARY / "projects" / "post-training" / "agent" / "train.py"

STAND_INS = {
    "torch.py": """
from types import SimpleNamespace

class Number(list):
    def backward(self): pass
    def item(self): return 0.5
    def to(self, dtype): return self
    def contiguous(self): return self

class AdamW:
    def __init__(self, parameters, lr, weight_decay=0.0): self.param_groups = [{"lr": lr}]
    def zero_grad(self): pass
    def step(self): pass

manual_seed = set_num_threads = lambda number: None
tensor = Number
optim = SimpleNamespace(AdamW=AdamW)
nn = SimpleNamespace(utils=SimpleNamespace(clip_grad_norm_=lambda parameters, most: None))
""",
    "transformers.py": """
from types import SimpleNamespace
from torch import Number

class Model:
    def float(self): return self
    def parameters(self): return []
    def state_dict(self): return {"weight": Number()}
    def __call__(self, input_ids, labels): return SimpleNamespace(loss=Number())

class Tokenizer:
    chat_template, eos_token_id = None, 0
    def __call__(self, text, add_special_tokens): return SimpleNamespace(input_ids=list(text.encode()))

AutoModelForCausalLM = SimpleNamespace(from_pretrained=lambda *_, **__: Model())
AutoTokenizer = SimpleNamespace(from_pretrained=lambda *_, **__: Tokenizer())
""",
    "safetensors/__init__.py": "",
    "safetensors/torch.py": """
from pathlib import Path
from types import SimpleNamespace

load_file = lambda path: {"weight": SimpleNamespace(dtype=None)}
save_file = lambda tensors, path, metadata: Path(path).write_bytes(b"trained")
""",
    "policy.py": "class Policy: pass\n",
}


@pytest.fixture
def stand_ins(tmp_path: Path) -> Path:
    folder = tmp_path / "stand-ins"
    for name, text in STAND_INS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def run(command: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(folder), **variables}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=1800)


def test_the_projects_agent_submits_although_its_time_went_into_the_imports(tmp_path: Path, stand_ins: Path) -> None:
    base, data, output = (tmp_path / name for name in ("base", "data", "output"))
    for folder in (base, data, output):
        folder.mkdir()
    (base / "model.safetensors").write_bytes(b"base")
    (data / "train.jsonl").write_text(json.dumps({"prompt": "1+1=", "completion": "2"}) + "\n")
    with grading_server(lambda folder: 1.0, base, 5.0, lambda: 5.0) as (url, replies):
        contract = {"MODEL_PATH": str(base), "DATA_PATH": str(data), "OUTPUT_DIR": str(output)}
        done = run([sys.executable, str(TRAIN)], stand_ins, GRADING_SERVER_URL=url, **contract)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 steps, last loss 0.500")
    assert len(replies) == 1


CLIMB = """
import sys
sys.path.append({agents!r})
from rounds import Climb

class Space:
    output, scores = None, [50.0, 60.0]
    def remaining(self): return {left}
    def elapsed(self): return {elapsed}
    def record(self, **progress): pass
    def log(self, text): pass
    def submit(self, checkpoint): return {{"score": self.scores.pop(0), "baseline_score": 20.0}}

class Policy:
    parameters = []
    def weights(self): return []
    def save(self, folder): return folder

Space.output = __import__("pathlib").Path(".")
climb = Climb(Space(), Policy(), 0.8)
print(climb._reserve)
climb.run(lambda until: None, count=2)
print(climb._submitted)
"""


@pytest.mark.parametrize(("left", "elapsed", "reserve"), [(0.0, 1.0, 4.0), (3.0, 1.0, 4.0), (100.0, 60.0, 60.0)])
def test_a_busy_machine_leaves_time_for_a_checkpoint(
    stand_ins: Path, left: float, elapsed: float, reserve: float
) -> None:
    code = CLIMB.format(agents=str(AGENTS), left=left, elapsed=elapsed)
    done = run([sys.executable, "-c", code], stand_ins)
    assert done.returncode == 0, done.stderr
    first, submitted = done.stdout.split()
    assert float(first) == reserve
    assert int(submitted) >= 1


def test_an_agent_whose_time_is_over_has_not_failed(tmp_path: Path) -> None:
    code = (
        f"import sys, time\nsys.path.insert(0, {str(AGENTS)!r})\nfrom workspace import Workspace\n"
        "Workspace().leave_when_told()\nprint('ready', flush=True)\ntime.sleep(600)"
    )
    environment = {"MODEL_PATH": "m", "GRADING_SERVER_URL": "http://127.0.0.1:1", "WORKSPACE": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.terminate()
        out, _ = process.communicate(timeout=600)
    assert process.returncode == 0
    assert "the time is over; what was graded counts" in out


@pytest.mark.parametrize("route", sorted(path.name for path in AGENTS.glob("route_*.py")))
def test_every_route_that_ends_by_itself_ends_when_told(route: str) -> None:
    assert ("leave_when_told()" in (AGENTS / route).read_text()) == (route != "route_broken.py")
