class Solution:
    def heard(self, count, calls, sources, hops):
        time = {a: 0 for a in sources}
        for minute in range(count):
            for a, b in calls:
                if time.get(a) == minute and b not in time:
                    time[b] = minute + 1
        return [a for a in range(count) if time.get(a) == hops]
