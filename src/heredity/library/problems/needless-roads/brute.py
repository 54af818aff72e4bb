class Solution:
    def needless(self, count, roads):
        found = []
        for number, (a, b) in enumerate(roads):
            reached = {a}
            for _ in range(count):
                for c, d in roads[:number]:
                    if c in reached or d in reached:
                        reached |= {c, d}
            if b in reached:
                found.append(number)
        return found
