"""Environments: gymnasium families by name, as tasksets, with a conformance suite and pictures.

Importing this package imports no simulator, nor gymnasium itself; both are loaded where an environment is made.
"""

from heredity.environments.registry import environment_ids, environment_spec, environment_specs, installed, make
from heredity.environments.spec import EnvironmentSpec
from heredity.environments.taskset import EnvironmentTaskset, make_from_spec

__all__ = [
    "EnvironmentSpec",
    "EnvironmentTaskset",
    "environment_ids",
    "environment_spec",
    "environment_specs",
    "installed",
    "make",
    "make_from_spec",
]
