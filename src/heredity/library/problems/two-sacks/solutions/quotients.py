class Solution:
    def firstWins(self, sacks):
        def quotients(a, b):
            while b:
                yield a // b
                a, b = b, a % b

        def one(a, b):
            parts = list(quotients(max(a, b), min(a, b)))
            first = next((place for place, part in enumerate(parts) if part > 1), None)
            # Who is first to choose wins; if nobody can, the last one empties.
            return len(parts) % 2 == 0 if first is None else first % 2 == 0

        return [one(a, b) for a, b in sacks]
