"""Post-training runs from the agent's side: workspace, grading server, record of the code."""
