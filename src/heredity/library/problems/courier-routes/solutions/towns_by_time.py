from heapq import heappop, heappush


class Solution:
    def latestArrival(self, towns, roads, start):
        leaving = [[] for _ in range(towns)]
        for road in roads:
            leaving[road[0]].append(road)
        # A heap of times; which towns it is about stands in a table.
        table, times = {0: [start]}, [0]
        done, last = set(), 0
        while times:
            time = heappop(times)
            at = table.pop(time)
            for town in at:
                if town in done:
                    continue
                done.add(town)
                last = time
                for _, other, hours in leaving[town]:
                    if other in done:
                        continue
                    if not hours:
                        at.append(other)
                    elif time + hours in table:
                        table[time + hours].append(other)
                    else:
                        table[time + hours] = [other]
                        heappush(times, time + hours)
        return last if len(done) == towns else -1
