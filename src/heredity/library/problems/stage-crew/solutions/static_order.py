from graphlib import CycleError, TopologicalSorter


class Solution:
    def days(self, jobs, rules):
        before = {job: [] for job in range(jobs)}
        for a, b in rules:
            before[b].append(a)
        day = {}
        try:
            for b in TopologicalSorter(before).static_order():
                day[b] = 1 + max((day[a] for a in before[b]), default=0)
        except CycleError:
            return -1
        return max(day.values())
