class Solution:
    def days(self, jobs, rules):
        day = [1] * jobs
        for _ in range(jobs):
            for a, b in rules:
                day[b] = max(day[b], day[a] + 1)
        return -1 if any(day[a] >= day[b] for a, b in rules) else max(day)
