"""Resources: the parts of agents, as immutable, content-addressed versions."""

from heredity.resources.building import Instance
from heredity.resources.candidate import Candidate
from heredity.resources.registry import OPERATORS, Registry
from heredity.resources.store import Store
from heredity.resources.tree import SourceTree
from heredity.resources.versions import TYPES, Draft, Manifest, Number, Version

__all__ = [
    "OPERATORS",
    "TYPES",
    "Candidate",
    "Draft",
    "Instance",
    "Manifest",
    "Number",
    "Registry",
    "SourceTree",
    "Store",
    "Version",
]
