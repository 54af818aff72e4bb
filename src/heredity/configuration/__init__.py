"""The configuration of an experiment: sections with every key known, general ones here and a protocol's own in its folder."""
