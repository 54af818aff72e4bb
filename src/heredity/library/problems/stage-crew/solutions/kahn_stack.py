class Solution:
    def days(self, jobs, rules):
        later, missing, day = {}, {}, [1] * jobs
        for a, b in rules:
            later.setdefault(a, []).append(b)
            missing[b] = missing.get(b, 0) + 1
        stack, done = [job for job in range(jobs) if job not in missing], 0
        while stack:
            a = stack.pop()
            done += 1
            for b in later.get(a, ()):
                if day[b] <= day[a]:
                    day[b] = day[a] + 1
                missing[b] -= 1
                if missing[b] == 0:
                    stack.append(b)
        return max(day) if done == jobs else -1
