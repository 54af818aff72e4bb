"""Tools of a team: the shared memory, a corpus to search and read, Python in the sandbox, other agents."""
