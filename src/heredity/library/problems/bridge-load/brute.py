class Solution:
    def heaviest(self, crossings):
        best = [0, 0]
        for time in sorted(enter for enter, _, _ in crossings):
            load = sum(weight for enter, leave, weight in crossings if enter <= time <= leave)
            if load > best[1]:
                best = [time, load]
        return best
