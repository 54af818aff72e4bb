class Solution:
    def winningHeaps(self, most, handfuls):
        pad = max(handfuls)
        line = ["W"] * pad + ["L"]
        for _ in range(most):
            line.append("W" if "L" in [line[-handful] for handful in handfuls] else "L")
        return line[pad:].count("W")
