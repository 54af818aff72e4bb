"""What attempts tasks: solvers, which are conversations of a candidate's prompts, memory and tools with a language model."""
