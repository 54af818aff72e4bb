class Solution:
    def days(self, jobs, rules):
        before, later = {b: set() for b in range(jobs)}, {a: set() for a in range(jobs)}
        for a, b in rules:
            before[b].add(a)
            later[a].add(b)
        today, days, left = {b for b in before if not before[b]}, 0, set(before)
        while today:
            left -= today
            days += 1
            touched = set()
            for a in today:
                for b in later[a]:
                    before[b].remove(a)
                    touched.add(b)
            today = {b for b in touched if not before[b]}
        return -1 if left else days
