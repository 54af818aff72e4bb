"""Built-in parts of every extension point: their names, and the modules and attributes that provide them.

Packages from outside offer theirs as entry points of the same groups (`heredity._core.plugins`).
"""

from __future__ import annotations

from collections.abc import Mapping

BUILT_IN: Mapping[str, Mapping[str, str]] = {
    "heredity.exporters": {
        "atif": "heredity.experiments.exports.atif:EXPORTER",
        "csv": "heredity.experiments.exports.tables:CSV",
        "eee": "heredity.experiments.exports.every_eval_ever:EXPORTER",
        "inspect": "heredity.experiments.exports.inspect_logs:EXPORTER",
        "mlflow": "heredity.experiments.exports.mlflow_store:EXPORTER",
        "parquet": "heredity.experiments.exports.tables:PARQUET",
    },
    "heredity.importers": {
        "inspect": "heredity.experiments.imports.inspect_logs:IMPORTER",
        "seagym": "heredity.protocols.harness_evolution.imports:IMPORTER",
    },
    "heredity.kinds": {
        "code": "heredity.kinds.code.kind:KIND",
        "container": "heredity.kinds.container.kind:KIND",
        "episode": "heredity.kinds.policy.kind:KIND",
        "glimpse-game": "heredity.kinds.checkpoint.tasks.kinds:GLIMPSES",
        "model": "heredity.kinds.checkpoint.kind:KIND",
        "preference": "heredity.kinds.checkpoint.tasks.kinds:PREFERENCES",
        "program": "heredity.kinds.program.kind:KIND",
        "question": "heredity.kinds.question.kind:KIND",
        "scored": "heredity.kinds.checkpoint.tasks.kinds:SCORED_ANSWERS",
        "solution": "heredity.kinds.code.kind:SOLUTION",
        "text-episode": "heredity.kinds.checkpoint.tasks.kinds:DIALOGUES",
        "world": "heredity.kinds.world.kind:KIND",
        "world-build": "heredity.kinds.world.building:KIND",
    },
    "heredity.launchers": {
        "claude-code": "heredity.agents.launchers.claude_code:ClaudeCode",
        "codex": "heredity.agents.launchers.codex:Codex",
        "gemini-cli": "heredity.agents.launchers.gemini_cli:GeminiCli",
        "mini-swe-agent": "heredity.agents.launchers.mini_swe_agent:MiniSweAgent",
        "opencode": "heredity.agents.launchers.opencode:OpenCode",
        "qwen-code": "heredity.agents.launchers.qwen_code:QwenCode",
    },
    "heredity.methods": {
        "ace": "heredity.methods.ace:Ace",
        "adaptive": "heredity.methods.adaptive:Adaptive",
        "ahe": "heredity.methods.ahe:Ahe",
        "best-of-n": "heredity.methods.best_of_n:BestOfN",
        "best-of-n-edits": "heredity.methods.edits:BestOfNEdits",
        "gepa": "heredity.methods.gepa_package:Gepa",
        "grpo": "heredity.methods.grpo:Grpo",
        "map-elites": "heredity.methods.map_elites:MapElites",
        "parametric": "heredity.methods.parametric:Parametric",
        "polish": "heredity.methods.polish:Polish",
        "random": "heredity.methods.random_policy:RandomPolicy",
        "refine": "heredity.methods.refine:Refine",
        "reflection": "heredity.methods.reflection:Reflection",
        "reinforce-pp": "heredity.methods.reinforce_pp:ReinforcePP",
        "select-optimise-evaluate": "heredity.methods.select_optimise_evaluate:SelectOptimiseEvaluate",
        "sequential": "heredity.methods.sequential:Sequential",
        "sequential-edits": "heredity.methods.edits:SequentialEdits",
        "static": "heredity.methods.static:Static",
        "structural": "heredity.methods.structural:Structural",
        "textgrad": "heredity.methods.textgrad:TextGrad",
        "tf-grpo": "heredity.methods.tf_grpo:TfGrpo",
        "world-author": "heredity.protocols.world_generation.author:WorldAuthor",
    },
    "heredity.models": {
        "local": "heredity.models.local:open_model",
        "offline": "heredity.library.models:open_model",
        "replay": "heredity.models.replay:open_model",
        "scripted": "heredity.models.scripted:open_model",
    },
    "heredity.posttraining": {
        "alfworld": "heredity.library.tasks.posttraining.alfworld.task:alfworld",
        "alfworld-official": "heredity.library.tasks.posttraining.alfworld.task:alfworld_official",
        "alpaca-eval": "heredity.library.tasks.posttraining.preference.task:alpaca_eval",
        "arithmetic": "heredity.library.tasks.posttraining.arithmetic:arithmetic",
        "arithmetic-hard": "heredity.library.tasks.posttraining.arithmetic:arithmetic_hard",
        "code/": "heredity.library.tasks.posttraining.code:code",
        "commands": "heredity.library.tasks.posttraining.commands:commands",
        "deepsearchqa": "heredity.library.tasks.posttraining.deepsearchqa.task:deepsearchqa",
        "gsm8k": "heredity.library.tasks.posttraining.gsm8k:gsm8k",
        "humaneval": "heredity.library.tasks.posttraining.humaneval:humaneval",
        "preference": "heredity.library.tasks.posttraining.preference.task:preference",
        "preference-judged": "heredity.library.tasks.posttraining.preference.task:preference_judged",
        "reasoning/": "heredity.library.tasks.posttraining.reasoning:reasoning",
        "rewriting": "heredity.library.tasks.posttraining.rewriting:rewriting",
        "search": "heredity.library.tasks.posttraining.search.task:search",
        "search-judged": "heredity.library.tasks.posttraining.search.task:search_judged",
        "shop": "heredity.library.tasks.posttraining.shop.task:shop",
        "smith:": "heredity.kinds.checkpoint.tasks.scoring:smith",
        "text-game": "heredity.library.tasks.posttraining.text_game:text_game",
        "webshop": "heredity.library.tasks.posttraining.webshop.task:webshop",
        "world:": "heredity.library.tasks.posttraining.world:world_task",
    },
    "heredity.protocols": {
        "policy-evolution": "heredity.protocols.policy_evolution.protocol:PROTOCOL",
        "resource-evolution": "heredity.protocols.resource_evolution.protocol:PROTOCOL",
        "agent-learning": "heredity.protocols.agent_learning.protocol:PROTOCOL",
        "harness-evolution": "heredity.protocols.harness_evolution.protocol:PROTOCOL",
        "post-training": "heredity.protocols.post_training.protocol:PROTOCOL",
        "world-generation": "heredity.protocols.world_generation.protocol:PROTOCOL",
        "team-questions": "heredity.protocols.team_questions.protocol:PROTOCOL",
        "within-task": "heredity.protocols.within_task.protocol:PROTOCOL",
        "program-evolution": "heredity.protocols.program_evolution.protocol:PROTOCOL",
    },
    "heredity.solvers": {
        "team": "heredity.team.solver:build",
    },
    "heredity.tasksets": {
        "code": "heredity.kinds.code.taskset:SOURCE",
        "gymnasium": "heredity.kinds.policy.environments.taskset:SOURCE",
        "posttraining": "heredity.kinds.checkpoint.tasks.registry:SOURCE",
        "program": "heredity.kinds.program.taskset:SOURCE",
        "questions": "heredity.kinds.question.taskset:SOURCE",
        "tasks": "heredity.kinds.container.taskset:SOURCE",
        "themes": "heredity.kinds.world.themes:SOURCE",
        "world-folders": "heredity.kinds.world.taskset:FOLDER_SOURCE",
        "worlds": "heredity.kinds.world.taskset:SOURCE",
    },
    "heredity.containers": {
        "library": "heredity.library.tasks.containers",
    },
    "heredity.sandboxes": {
        "bubblewrap": "heredity.sandbox.containers.replay:BubblewrapBackend",
        "docker": "heredity.sandbox.containers.docker:open_docker",
    },
    "heredity.sites": {
        "local-web": "heredity.library.localweb.taskset:SITE",
    },
    "heredity.suites": {
        "library": "heredity.library.suites",
    },
    "heredity.themes": {
        "library": "heredity.library.themes",
    },
    "heredity.worlds": {
        "library": "heredity.library.worlds",
    },
}
"""Entry point group to name to `module:attribute`; imported when a name is used."""
