from heapq import heappop, heappush


class Solution:
    def arrival(self, stations, lines, start, goal, now):
        leaving = [[] for _ in range(stations)]
        for line in lines:
            leaving[line[0]].append(line)
        heap, reached = [(now, [start, start, 1, 0])], {}
        while heap:
            time, (_, here, _, _) = heappop(heap)
            if here in reached:
                continue
            reached[here] = time
            for line in leaving[here]:
                wait = (line[2] - time % line[2]) % line[2]
                heappush(heap, (time + wait + line[3], line))
        return reached.get(goal, -1)
