class Solution:
    def days(self, jobs, rules):
        left, days = set(range(jobs)), 0
        while left:
            blocked = {b for a, b in rules if a in left}
            today = left - blocked
            if not today:
                return -1
            left -= today
            days += 1
        return days
