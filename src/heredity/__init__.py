"""Heredity: a laboratory for agents that improve themselves.

    import heredity

    suite = heredity.run("demo")                       # an installed suite, a TOML file, or a mapping of sections
    suite.leaderboard                                  # who won, by how much, with intervals
    suite.runs[0].best.files                           # files of the best candidate: path to content
    best = heredity.evolve("program.py", scorer="scorer.py", evaluations=200)
    suite = heredity.load("runs/demo-20260101-120000") # finished, interrupted or still running

The functions wait, in a notebook, too. Each has an async twin with `_async` behind its name, for code in an event loop:
`suite = await heredity.run_async("demo")`. Names below are stable; everything else of the package may change.

To run and read
    run, resume, evolve, load                          and run_async, resume_async, evolve_async, load_async
    Suite, Leaderboard, Standing, Run, Best, Evolution, Comparison, RunResults, SuiteResults, Config

To write tasks and their kinds
    Task, Taskset, TasksetInfo, generator              tasks and their sources
    Kind, KindNeeds, Opening, Candidates               runs of a kind of tasks
    Runner, Job, Limits, Trajectory, Failure, FailureSource, Status
    Candidate, SourceTree, AGENT                       candidates for them
    world                                              rules of worlds: Dynamics, Action, Outcome, Levels and others

To write methods and models
    Method, MethodOptions, parse_options, Session, EvolverContext, Trial, Feedback, Decision, Budget, until_closed
    Model, Request, Message, Sampling, Reply, ToolCall, ToolSpec, Usage

To write protocols and their reports
    Protocol, ProtocolNeeds, Setup, RunContext, SuiteContext, Cell, ConfigSection, Count, ViewPlan, build_evolver
    judging                                            parts of a judge: Bench, Evolved, Reference, Verdict, score and others
    CommonMetrics, RunEvidence, Result, JUDGING_SELECTED
    PlainReport, Words, page                           reports; `page` has their parts: Section, Text, Facts, Table and others

Errors
    HeredityError and those derived from it, such as ConfigError, RecordError and MissingExtraError.

Importing this package has no side effects and loads nothing heavy: a name is imported when it is used.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False  # as `typing` has it, which takes longer to import than all of this

if TYPE_CHECKING:
    from heredity._api import (
        Best,
        Leaderboard,
        Run,
        Standing,
        Suite,
        load,
        load_async,
        resume,
        resume_async,
        run,
        run_async,
    )
    from heredity._core.errors import (
        BudgetError,
        CandidateError,
        ClosedError,
        ConfigError,
        DamagedRecordError,
        HeredityError,
        HostError,
        IsolationError,
        MissingExtraError,
        OutageError,
        ProviderError,
        RecordError,
        RefusedError,
        RejectedError,
        ReplayDivergedError,
        RunLockedError,
        SessionError,
        UnknownNameError,
    )
    from heredity._core.ids import generator
    from heredity.analysis.contract import CommonMetrics, RunEvidence
    from heredity.configuration.config import Cell, Config
    from heredity.configuration.sections import Count
    from heredity.configuration.sections import Section as ConfigSection
    from heredity.engine.kind import Candidates, Kind, Opening
    from heredity.engine.kind import Needs as KindNeeds
    from heredity.engine.runner import Job, Runner
    from heredity.engine.trajectory import Failure, Trajectory
    from heredity.experiments.evolvers import build_evolver
    from heredity.kinds.program.commands.evolving import Evolution, evolve, evolve_async
    from heredity.kinds.world import contract as world
    from heredity.methods.contract import Budget, Decision, EvolverContext, Feedback, Method, Trial
    from heredity.methods.contract import SessionContract as Session
    from heredity.methods.operators.evaluate import until_closed
    from heredity.methods.registry import MethodOptions, parse_options
    from heredity.models.contract import Message, Model, Reply, Request, Sampling, ToolCall, ToolSpec, Usage
    from heredity.protocols.contract import Needs as ProtocolNeeds
    from heredity.protocols.contract import Protocol, RunContext, Setup, SuiteContext
    from heredity.records.events import JUDGING_SELECTED
    from heredity.resources.candidate import AGENT, Candidate
    from heredity.resources.tree import SourceTree
    from heredity.results import page
    from heredity.results.base import Result
    from heredity.results.report import PlainReport, Words
    from heredity.results.run import RunResults
    from heredity.results.status import FailureSource, Status
    from heredity.results.suite import Comparison, SuiteResults
    from heredity.sandbox.limits import Limits
    from heredity.session import bench as judging
    from heredity.session.views import ViewPlan
    from heredity.tasks.contract import Task, Taskset, TasksetInfo

# fmt: off
__all__ = [
    "AGENT", "Best", "Budget", "BudgetError", "Candidate", "CandidateError", "Candidates", "Cell", "ClosedError",
    "CommonMetrics", "Comparison", "Config", "ConfigError", "ConfigSection", "Count", "DamagedRecordError", "Decision",
    "Evolution", "EvolverContext", "Failure", "FailureSource", "Feedback", "HeredityError", "HostError",
    "IsolationError", "JUDGING_SELECTED", "Job", "Kind", "KindNeeds", "Leaderboard", "Limits", "Message", "Method",
    "MethodOptions", "MissingExtraError", "Model", "Opening", "OutageError", "PlainReport", "Protocol", "ProtocolNeeds",
    "ProviderError", "RecordError", "RefusedError", "RejectedError", "ReplayDivergedError", "Reply", "Request",
    "Result", "Run", "RunContext", "RunEvidence", "RunLockedError", "RunResults", "Runner", "Sampling", "Session",
    "SessionError", "Setup", "SourceTree", "Standing", "Status", "Suite", "SuiteContext", "SuiteResults", "Task",
    "Taskset", "TasksetInfo", "ToolCall", "ToolSpec", "Trajectory", "Trial", "UnknownNameError", "Usage", "ViewPlan",
    "Words", "build_evolver", "evolve", "evolve_async", "generator", "judging", "load", "load_async", "page",
    "parse_options", "resume", "resume_async", "run", "run_async", "until_closed", "world"
]
# fmt: on

_MODULES = {
    "_api": "Best Leaderboard Run Standing Suite load load_async resume resume_async run run_async",
    "_core.errors": "BudgetError CandidateError ClosedError ConfigError DamagedRecordError HeredityError HostError IsolationError"
    " MissingExtraError OutageError ProviderError RecordError RefusedError RejectedError ReplayDivergedError RunLockedError"
    " SessionError UnknownNameError",
    "_core.ids": "generator",
    "analysis.contract": "CommonMetrics RunEvidence",
    "configuration.config": "Cell Config",
    "configuration.sections": "Count ConfigSection=Section",
    "engine.kind": "Candidates Kind Opening KindNeeds=Needs",
    "engine.runner": "Job Runner",
    "engine.trajectory": "Failure Trajectory",
    "experiments.evolvers": "build_evolver",
    "kinds.program.commands.evolving": "Evolution evolve evolve_async",
    "kinds.world.contract": "world=",
    "methods.contract": "Budget Decision EvolverContext Feedback Method Trial Session=SessionContract",
    "methods.operators.evaluate": "until_closed",
    "methods.registry": "MethodOptions parse_options",
    "models.contract": "Message Model Reply Request Sampling ToolCall ToolSpec Usage",
    "protocols.contract": "Protocol RunContext Setup SuiteContext ProtocolNeeds=Needs",
    "records.events": "JUDGING_SELECTED",
    "resources.candidate": "AGENT Candidate",
    "resources.tree": "SourceTree",
    "results.base": "Result",
    "results.page": "page=",
    "results.report": "PlainReport Words",
    "results.run": "RunResults",
    "results.status": "FailureSource Status",
    "results.suite": "Comparison SuiteResults",
    "sandbox.limits": "Limits",
    "session.bench": "judging=",
    "session.views": "ViewPlan",
    "tasks.contract": "Task Taskset TasksetInfo",
}
"""Where the names are: `name`, `name=what it is called there`, or `name=` for the module itself."""

_NAMES = {
    entry.partition("=")[0]: (f"heredity.{module}", entry.partition("=")[2] if "=" in entry else entry)
    for module, entries in _MODULES.items()
    for entry in entries.split()
}

if not TYPE_CHECKING:  # or type checkers would take any name for one of ours

    def __getattr__(name: str) -> object:
        """Import a name when it is used (PEP 562)."""
        if name not in _NAMES:
            raise AttributeError(f"module 'heredity' has no attribute {name!r}")
        from importlib import import_module

        module, attribute = _NAMES[name]
        value = import_module(module)
        globals()[name] = value = getattr(value, attribute) if attribute else value
        return value


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted({*__all__, "__version__", "__doc__"})
