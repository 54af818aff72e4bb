"""The team can be read, its documents are there, and its tool counts right."""

import importlib.util
import unittest
from pathlib import Path

from heredity.resources.assembly import candidate_from_folder
from heredity.team.settings import load_team

HERE = Path(__file__).parent


class Team(unittest.TestCase):
    def test_it_fits_the_configuration(self) -> None:
        settings = load_team(HERE / "team.toml")
        assert settings.models_named()
        assert any(Path(settings.corpus.folder).iterdir())

    def test_the_tool_counts_working_days(self) -> None:
        assert "tool/working-days" in candidate_from_folder(HERE / "tools").parts
        spec = importlib.util.spec_from_file_location("tool", HERE / "tools" / "tool" / "working-days" / "tool.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        assert module.run("2026-05-01", "2026-05-10", ["2026-05-01"]) == 5
