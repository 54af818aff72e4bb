class Solution:
    def days(self, jobs, rules):
        later, missing = [[] for _ in range(jobs)], [0] * jobs
        for a, b in rules:
            later[a].append(b)
            missing[b] += 1
        today, days, done = [job for job in range(jobs) if not missing[job]], 0, 0
        while today:
            days += 1
            done += len(today)
            tomorrow = []
            for a in today:
                for b in later[a]:
                    missing[b] -= 1
                    if not missing[b]:
                        tomorrow.append(b)
            today = tomorrow
        return days if done == jobs else -1
