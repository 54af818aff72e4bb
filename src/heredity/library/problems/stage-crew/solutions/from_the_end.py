class Solution:
    def days(self, jobs, rules):
        before, open_rules = [[] for _ in range(jobs)], [0] * jobs
        for a, b in rules:
            before[b].append(a)
            open_rules[a] += 1
        last, days, left = [a for a in range(jobs) if open_rules[a] == 0], 0, jobs
        while last:
            left -= len(last)
            days += 1
            row = []
            for b in last:
                for a in before[b]:
                    open_rules[a] -= 1
                    if open_rules[a] == 0:
                        row.append(a)
            last = row
        return -1 if left else days
