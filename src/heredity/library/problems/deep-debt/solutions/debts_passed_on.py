class Solution:
    def shortest(self, flows, goal):
        # A loss is passed back to the days before until it is paid off.
        flows = list(flows)
        best, start, total = [], 0, 0
        for stop in range(len(flows)):
            total += flows[stop]
            if total <= 0:
                start, total = stop + 1, 0
                continue
            back = stop - 1
            while back >= start and flows[back + 1] <= 0:
                flows[back] += flows[back + 1]
                flows[back + 1] = 0
                back -= 1
            while start <= stop and total >= goal:
                if not best or stop + 1 - start < best[1]:
                    best = [start, stop + 1 - start]
                total -= flows[start]
                start += 1
        return best
