"""Published figures of evolution within a task: tables 1 and 3 of Autogenesis.

They are for the paper's models, prompts and rounds (3, with the reflection optimizer); it does not state the optimizer's feedback.
They are shown next to a suite's figures for orientation, and no test uses them.
"""

from __future__ import annotations

from collections.abc import Mapping

DATASETS = ("gpqa", "aime24", "aime25")
"""Names of tasksets under `questions/`, in column order."""

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

COLUMNS_3 = ("PR", "TLE", "MLE", "CE", "RE", "WA", "TO", "RpE", "AR, ms", "AM, MB", "APC", "ARB, %", "AMB, %")

TABLE_3: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "Python3": {
        "deepseek-v3.2": (34, 1, 1, 0, 23, 8, 1, 36, 1806.79, 55.91, 640.38, 63.04, 25.81),
        "grok-4.1-fast": (73, 9, 0, 0, 3, 13, 0, 3, 1860.90, 56.02, 741.60, 49.92, 30.15),
        "claude-4.5-sonnet": (42, 37, 2, 0, 0, 10, 8, 1, 880.98, 45.16, 702.64, 61.06, 22.12),
        "claude-4.5-opus": (82, 9, 0, 0, 0, 5, 3, 1, 1559.87, 70.77, 749.45, 64.77, 32.70),
        "gemini-3-flash-preview": (79, 4, 0, 0, 2, 14, 1, 0, 1376.19, 56.59, 750.89, 73.28, 36.62),
        "gemini-3-flash-preview + Solution-Evo": (87, 3, 0, 0, 1, 9, 0, 0, 1269.39, 59.08, 750.98, 70.29, 42.15),
    },
    "C++": {
        "deepseek-v3.2": (11, 1, 0, 30, 0, 6, 4, 43, 158.73, 163.59, 605.82, 73.11, 74.05),
        "grok-4.1-fast": (79, 9, 0, 1, 0, 5, 2, 4, 428.32, 223.68, 748.61, 58.57, 46.67),
        "claude-4.5-sonnet": (41, 42, 2, 0, 1, 9, 2, 3, 379.68, 179.86, 710.59, 56.17, 50.84),
        "claude-4.5-opus": (85, 6, 0, 0, 0, 6, 1, 2, 382.45, 184.22, 758.21, 64.06, 55.58),
        "gemini-3-flash-preview": (84, 2, 0, 2, 1, 10, 0, 1, 266.04, 168.93, 743.31, 68.02, 59.24),
        "gemini-3-flash-preview + Solution-Evo": (99, 0, 0, 0, 0, 1, 0, 0, 142.60, 148.43, 749.86, 88.99, 73.14),
    },
    "Java": {
        "deepseek-v3.2": (11, 0, 0, 47, 1, 1, 5, 35, 72.91, 143.63, 481.45, 57.37, 32.71),
        "grok-4.1-fast": (73, 5, 0, 5, 0, 12, 1, 4, 227.45, 136.80, 746.23, 52.98, 41.97),
        "claude-4.5-sonnet": (41, 40, 1, 1, 1, 15, 0, 1, 161.49, 130.54, 679.41, 58.04, 46.22),
        "claude-4.5-opus": (87, 4, 1, 0, 0, 6, 1, 1, 188.63, 134.27, 748.63, 59.54, 55.61),
        "gemini-3-flash-preview": (84, 0, 0, 2, 2, 9, 1, 2, 125.04, 126.09, 752.86, 71.03, 59.18),
        "gemini-3-flash-preview + Solution-Evo": (98, 1, 0, 0, 0, 1, 0, 0, 96.30, 120.00, 751.09, 88.33, 72.38),
    },
    "Go": {
        "deepseek-v3.2": (7, 0, 0, 39, 0, 0, 1, 53, 112.71, 12.59, 709.57, 62.73, 54.36),
        "grok-4.1-fast": (69, 3, 0, 16, 0, 4, 3, 5, 194.90, 23.26, 755.43, 66.83, 62.44),
        "claude-4.5-sonnet": (44, 41, 0, 0, 0, 13, 0, 2, 222.64, 19.71, 712.55, 57.09, 53.32),
        "claude-4.5-opus": (84, 5, 0, 0, 0, 9, 0, 2, 162.50, 19.95, 744.45, 72.91, 63.00),
        "gemini-3-flash-preview": (82, 1, 0, 9, 0, 7, 0, 1, 139.22, 22.01, 739.46, 76.22, 63.48),
        "gemini-3-flash-preview + Solution-Evo": (95, 0, 0, 0, 0, 5, 0, 0, 111.64, 18.35, 754.17, 81.52, 67.94),
    },
    "Kotlin": {
        "deepseek-v3.2": (7, 2, 0, 0, 0, 0, 1, 48, 59.29, 62.27, 793.57, 58.33, 74.56),
        "grok-4.1-fast": (62, 2, 0, 22, 0, 8, 2, 4, 307.45, 75.45, 759.55, 78.12, 72.83),
        "claude-4.5-sonnet": (42, 36, 1, 8, 1, 10, 1, 1, 192.62, 78.49, 757.64, 81.59, 77.79),
        "claude-4.5-opus": (83, 4, 0, 5, 0, 5, 0, 3, 210.47, 76.60, 750.98, 83.18, 76.53),
        "gemini-3-flash-preview": (75, 2, 0, 8, 1, 10, 2, 2, 171.99, 72.80, 760.43, 83.49, 79.07),
        "gemini-3-flash-preview + Solution-Evo": (95, 1, 0, 0, 0, 4, 0, 0, 122.83, 77.88, 749.38, 83.58, 67.21),
    },
}
"""Language to model to the columns of table 3: verdicts of 100 problems, then means over programs; a web site judged them."""
