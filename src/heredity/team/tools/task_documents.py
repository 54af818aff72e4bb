"""The documents of a question as tools of whoever answers it, a single solver or a team that is a candidate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from heredity.actors.contract import Programs, ProvidedTool
from heredity.errors import ConfigError
from heredity.rollouts.question.runner import TaskTools
from heredity.tasks import Task
from heredity.team.tools.corpus import Corpus
from heredity.team.tools.documents import DocumentReader

_NAMED = 20


def task_documents(programs: Programs, folder: Path | None = None) -> TaskTools:
    """Return what gives the tools `search` and `read` for the documents of a task.

    These are the files that the metadata of the question names under `files`, as those of GAIA do, and nothing else: neither what
    a question says nor a candidate adds a file. A task without files has no tools.

    Args:
        programs: what reads documents other than plain text, in the sandbox.
        folder: where files lie whose paths are not absolute; by default the folder of this process.

    Raises:
        ConfigError: when a task's tools are asked for, if one of its files is not there, or two have one name.
        MissingExtraError: then, if what reads one of them is not installed.
    """

    async def tools(task: Task) -> Sequence[ProvidedTool]:
        named = [str(name) for name in (task.spec.get("metadata") or {}).get("files", ())]
        if not named:
            return ()
        files = {Path(name).name: (folder or Path()) / name for name in named}
        if len(files) < len(named):
            raise ConfigError(f"{task.id} comes with two files of one name ({', '.join(named)}); rename one of them")
        for path in files.values():
            if not path.is_file():
                raise ConfigError(
                    f"{task.id} comes with {path}, which is not there; put the files where the taskset says"
                )
        corpus = await Corpus.load(None, DocumentReader(programs), files)
        known = ", ".join(list(files)[:_NAMED])
        made = [tool.tool for tool in corpus.tools()]
        return [
            replace(tool, spec=replace(tool.spec, description=f"{tool.spec.description} There are: {known}"))
            for tool in made
        ]

    return tools
