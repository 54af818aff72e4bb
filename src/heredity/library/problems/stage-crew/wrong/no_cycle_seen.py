class Solution:
    def days(self, jobs, rules):
        later, missing = [[] for _ in range(jobs)], [0] * jobs
        for a, b in rules:
            later[a].append(b)
            missing[b] += 1
        day = [1] * jobs
        order = [job for job in range(jobs) if not missing[job]]
        for a in order:
            for b in later[a]:
                day[b] = max(day[b], day[a] + 1)
                missing[b] -= 1
                if not missing[b]:
                    order.append(b)
        return max(day) if order else -1
