"""Gates: executable checks that a world must pass before it measures agents."""
