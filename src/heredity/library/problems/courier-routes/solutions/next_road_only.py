from heapq import heappop, heappush, heapreplace


class Solution:
    def latestArrival(self, towns, roads, start):
        # Of each town that has the message only the next road waits.
        leaving = [[] for _ in range(towns)]
        for a, b, hours in sorted(roads, key=lambda road: -road[2]):
            leaving[a].append((hours, b))
        has, last, left = [False] * towns, 0, towns - 1
        has[start] = True
        waiting = []
        if leaving[start]:
            hours, other = leaving[start].pop()
            waiting.append((hours, other, 0, start))
        while waiting and left:
            time, town, since, origin = waiting[0]
            if leaving[origin]:
                hours, other = leaving[origin].pop()
                heapreplace(waiting, (since + hours, other, since, origin))
            else:
                heappop(waiting)
            if not has[town]:
                has[town], last, left = True, time, left - 1
                if leaving[town]:
                    hours, other = leaving[town].pop()
                    heappush(waiting, (time + hours, other, time, town))
        return -1 if left else last
