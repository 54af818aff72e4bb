"""What a team provides to its agents: the shared memory, a corpus to search and read, Python in the sandbox, other agents."""
