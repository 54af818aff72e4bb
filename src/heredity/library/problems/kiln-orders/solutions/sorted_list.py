from bisect import insort


class Solution:
    def fired(self, orders):
        done, total = [], 0
        for due, hours in sorted((due, hours) for hours, due in orders):
            insort(done, hours)
            total += hours
            if total > due:
                total -= done.pop()
        return [len(done), sum(done)]
