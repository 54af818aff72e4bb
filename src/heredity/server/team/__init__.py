"""A team that is served: its tasks over HTTP, as a language model, over the Model Context Protocol and A2A."""
