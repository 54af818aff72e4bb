class Solution:
    def days(self, jobs, rules):
        later, missing = [set() for _ in range(jobs)], [0] * jobs
        for a, b in rules:
            later[a].add(b)
            missing[b] += 1
        day, done = [0] * jobs, 0
        order = [job for job in range(jobs) if not missing[job]]
        for a in order:
            for b in later[a]:
                day[b] = max(day[b], day[a] + 1)
                missing[b] -= 1
                if not missing[b]:
                    order.append(b)
        return max(day) if len(order) == jobs else -1
