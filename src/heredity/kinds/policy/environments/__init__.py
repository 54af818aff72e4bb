"""Environments: gymnasium families by name, as tasksets, with a conformance suite and pictures.

Importing this package imports neither simulators nor gymnasium; both are loaded when an environment is built.
"""

from heredity.kinds.policy.environments.registry import (
    environment_ids,
    environment_spec,
    environment_specs,
    installed,
    make,
)
from heredity.kinds.policy.environments.spec import EnvironmentSpec
from heredity.kinds.policy.environments.taskset import EnvironmentTaskset, make_from_spec

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
