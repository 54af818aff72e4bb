class Solution:
    def shortest(self, flows, goal):
        # A chain of rising sums; it is walked from its oldest link.
        sums, total = [0], 0
        for flow in flows:
            total += flow
            sums.append(total)
        count = len(sums)
        after, before = [-1] * count, [-1] * count
        first = last = -1
        best = []
        for stop in range(count):
            while first >= 0 and sums[stop] - sums[first] >= goal:
                if not best or stop - first < best[1]:
                    best = [first, stop - first]
                first = after[first]
                if first >= 0:
                    before[first] = -1
                else:
                    last = -1
            while last >= 0 and sums[last] >= sums[stop]:
                last = before[last]
            if last < 0:
                first = stop
            else:
                after[last] = stop
            before[stop] = last
            last = stop
        return best
