from itertools import accumulate


class Solution:
    def shortest(self, flows, goal):
        # Sums from the smallest on, each asked for the last place that is small enough: a pointer over both orders.
        sums = list(accumulate(flows, initial=0))
        count = len(sums)
        size = 1
        while size < count:
            size *= 2
        tree = [-1] * (2 * size)
        order = sorted(range(count), key=sums.__getitem__)
        ahead, best = 0, []
        for stop in order:
            while ahead < count and sums[order[ahead]] <= sums[stop] - goal:
                node = order[ahead] + size
                while node and tree[node] < order[ahead]:
                    tree[node] = order[ahead]
                    node //= 2
                ahead += 1
            # The last marked place before stop.
            node, found = stop + size, -1
            while node > 1:
                if node & 1 and tree[node - 1] >= 0:
                    found = tree[node - 1]
                    break
                node //= 2
            if found >= 0 and (not best or (stop - found, found) < (best[1], best[0])):
                best = [found, stop - found]
        return best
