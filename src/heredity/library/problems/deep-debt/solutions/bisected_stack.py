from bisect import bisect_right


class Solution:
    def shortest(self, flows, goal):
        # The stack of rising sums is searched, nothing is taken from its front.
        sums, places, total, best = [0], [0], 0, []
        for stop, flow in enumerate(flows, 1):
            total += flow
            at = bisect_right(sums, total - goal)
            if at and (not best or stop - places[at - 1] < best[1]):
                best = [places[at - 1], stop - places[at - 1]]
            while sums and sums[-1] >= total:
                sums.pop()
                places.pop()
            sums.append(total)
            places.append(stop)
        return best
