from heapq import heappop, heappush


class Solution:
    def days(self, jobs, rules):
        later, missing = [[] for _ in range(jobs)], [0] * jobs
        for a, b in rules:
            later[a].append(b)
            missing[b] += 1
        heap, day, done = [(1, a) for a in range(jobs) if missing[a] == 0], 0, 0
        while heap:
            day, a = heappop(heap)
            done += 1
            for b in later[a]:
                missing[b] -= 1
                if missing[b] == 0:
                    heappush(heap, (day + 1, b))
        return day if done == jobs else -1
