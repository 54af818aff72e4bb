"""Figures that the paper publishes of evolution within a task: tables 1 and 3 of Autogenesis.

Theirs are of their models, prompts and rounds, 3 with the reflection optimizer; what the optimizer was told of an answer is not
said. They stand beside a suite's own figures for orientation, and nothing is tested against them.
"""

from __future__ import annotations

from collections.abc import Mapping

DATASETS = ("gpqa", "aime24", "aime25")
"""Names of tasksets below `questions/`, in the order of the columns."""

VANILLA, PROMPT, SOLUTION, JOINT = "vanilla", "prompt", "solution", "both"

TABLE_1: Mapping[str, Mapping[str, tuple[float, float, float]]] = {
    "gpt-4o": {
        VANILLA: (47.98, 13.34, 6.67),
        PROMPT: (53.81, 13.34, 13.34),
        SOLUTION: (53.53, 16.67, 13.34),
        JOINT: (58.08, 16.67, 13.34),
    },
    "gpt-4.1": {
        VANILLA: (65.15, 23.34, 20.00),
        PROMPT: (68.68, 33.33, 23.33),
        SOLUTION: (68.68, 36.67, 30.00),
        JOINT: (67.67, 40.00, 33.33),
    },
    "grok-4.1-fast": {
        VANILLA: (83.33, 96.67, 90.00),
        PROMPT: (83.84, 96.67, 93.33),
        SOLUTION: (87.81, 96.67, 90.00),
        JOINT: (89.34, 96.67, 96.67),
    },
    "claude-sonnet-4.5": {
        VANILLA: (78.28, 76.67, 73.33),
        PROMPT: (79.79, 86.67, 90.00),
        SOLUTION: (80.30, 80.00, 90.00),
        JOINT: (81.44, 86.67, 90.00),
    },
    "gemini-3-flash-preview": {
        VANILLA: (88.38, 83.33, 83.33),
        PROMPT: (88.89, 93.33, 86.67),
        SOLUTION: (87.88, 93.33, 90.00),
        JOINT: (90.40, 93.33, 93.33),
    },
}
"""Model to mode to accuracy on GPQA-Diamond, AIME 2024 and AIME 2025."""

LANGUAGES = ("Python3", "C++", "Java", "Go", "Kotlin")

TABLE_3: Mapping[str, tuple[int, int, int, int, int]] = {
    "deepseek-v3.2": (34, 11, 11, 7, 7),
    "grok-4.1-fast": (73, 79, 73, 69, 62),
    "claude-4.5-sonnet": (42, 41, 41, 44, 42),
    "claude-4.5-opus": (82, 85, 87, 84, 83),
    "gemini-3-flash-preview": (79, 84, 84, 82, 75),
    "gemini-3-flash-preview + Solution-Evo": (87, 99, 98, 95, 95),
}
"""Model to problems of 100 that pass all hidden cases (PR), by language; a web site judged them."""
