class Solution:
    def unwatched(self, watches):
        joined = []
        for start, end in sorted(watches):
            if joined and start <= joined[-1][1]:
                joined[-1][1] = max(joined[-1][1], end)
            else:
                joined.append([start, end])
        gaps = [[one[1], other[0]] for one, other in zip(joined, joined[1:])]
        return max(gaps, key=lambda gap: gap[1] - gap[0], default=[])
