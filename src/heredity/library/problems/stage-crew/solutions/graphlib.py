from graphlib import CycleError, TopologicalSorter


class Solution:
    def days(self, jobs, rules):
        before = {job: set() for job in range(jobs)}
        for a, b in rules:
            before[b].add(a)
        sorter = TopologicalSorter(before)
        try:
            sorter.prepare()
        except CycleError:
            return -1
        days = 0
        while sorter.is_active():
            sorter.done(*sorter.get_ready())
            days += 1
        return days
