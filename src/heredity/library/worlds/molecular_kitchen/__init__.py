"""Molecular kitchen: walk a dim pantry, learn the effects of molecules on taste, and serve the ordered taste."""
