"""Teams of agents, as files."""
