"""Heredity: a laboratory for agents that improve themselves.

Importing this package has no side effects and loads nothing heavy; simulators and servers are imported where they are
used. Start with `heredity.experiments` (run a configuration), `heredity.judging` (sessions and protocols) and
`heredity.evolution` (methods).
"""

__version__ = "0.1.0"
