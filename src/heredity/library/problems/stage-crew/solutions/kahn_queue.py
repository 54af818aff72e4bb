from collections import deque


class Solution:
    def days(self, jobs, rules):
        later, missing, day = [[] for _ in range(jobs)], [0] * jobs, [1] * jobs
        for a, b in rules:
            later[a].append(b)
            missing[b] += 1
        queue, done = deque(job for job in range(jobs) if not missing[job]), 0
        while queue:
            a = queue.popleft()
            done += 1
            for b in later[a]:
                day[b] = max(day[b], day[a] + 1)
                missing[b] -= 1
                if not missing[b]:
                    queue.append(b)
        return max(day) if done == jobs else -1
