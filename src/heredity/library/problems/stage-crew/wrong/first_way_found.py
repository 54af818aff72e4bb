class Solution:
    def days(self, jobs, rules):
        later, missing = [[] for _ in range(jobs)], [0] * jobs
        for a, b in rules:
            later[a].append(b)
            missing[b] += 1
        day = {job: 1 for job in range(jobs) if not missing[job]}
        order = list(day)
        for a in order:
            for b in later[a]:
                if b not in day:
                    day[b] = day[a] + 1
                    order.append(b)
        return max(day.values()) if len(day) == jobs else -1
