class Solution:
    def firstWins(self, sacks):
        steps = [1, 1]
        while steps[-1] < 10**19:
            steps.append(steps[-1] + steps[-2])
        # Neighbouring steps close in on the golden ratio from both sides; a ratio beyond both of some two is told.
        bounds = []
        for i in range(len(steps) - 2):
            one, other = (steps[i + 1], steps[i]), (steps[i + 2], steps[i + 1])
            bounds.append((other, one) if i % 2 else (one, other))

        def one(a, b):
            for (low, under), (high, below) in bounds:
                if a * below >= high * b:
                    return True
                if a * under <= low * b:
                    return False
            return False

        return [one(max(pair), min(pair)) for pair in sacks]
