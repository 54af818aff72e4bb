from functools import lru_cache


class Solution:
    def days(self, jobs, rules):
        before, missing, later = [[] for _ in range(jobs)], [0] * jobs, [[] for _ in range(jobs)]
        for a, b in rules:
            before[b].append(a)
            later[a].append(b)
            missing[b] += 1
        order = [a for a in range(jobs) if missing[a] == 0]
        for a in order:
            for b in later[a]:
                missing[b] -= 1
                if missing[b] == 0:
                    order.append(b)
        if len(order) < jobs:
            return -1

        @lru_cache(maxsize=None)
        def day(b):
            return 1 + max(map(day, before[b]), default=0)

        return max(day(b) for b in order)
