class Solution:
    def arrival(self, stations, lines, start, goal, now):
        never, size = 1 << 60, 1
        while size < stations:
            size *= 2
        leaving = [[] for _ in range(stations)]
        for a, b, period, minutes in lines:
            leaving[a].append((b, period, minutes))
        least, done = [never] * (2 * size), [False] * stations

        def put(a, time):
            at = a + size
            least[at] = time
            while at > 1:
                at //= 2
                least[at] = min(least[2 * at], least[2 * at + 1])

        put(start, now)
        while least[1] < never:
            at = 1
            while at < size:
                at = 2 * at + (least[2 * at] != least[at])
            a, time = at - size, least[at]
            if a == goal:
                return time
            done[a] = True
            put(a, never)
            for b, period, minutes in leaving[a]:
                then = time + -time % period + minutes
                if not done[b] and then < least[b + size]:
                    put(b, then)
        return -1
