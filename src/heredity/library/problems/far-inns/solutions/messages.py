class Solution:
    def farthest(self, roads, inns):
        count = len(roads) + 1
        around = [[] for _ in range(count)]
        for a, b, minutes in roads:
            around[a].append((b, minutes))
            around[b].append((a, minutes))
        parent, length, order = [-1] * count, [0] * count, [0]
        for at in order:
            for other, minutes in around[at]:
                if other != parent[at]:
                    parent[other], length[other] = at, minutes
                    order.append(other)
        # What each road carries in each direction: the farthest inn behind it.
        none = -(10**18)
        own = [none] * count
        for inn in inns:
            own[inn] = 0
        carried = {}
        for at in reversed(order[1:]):
            best = own[at]
            for other, _ in around[at]:
                if other != parent[at]:
                    best = max(best, carried[other, at])
            carried[at, parent[at]] = best + length[at]
        for at in order:
            ways = sorted([carried[other, at] for other, _ in around[at]], reverse=True)[:2]
            ways += [none, none]
            for other, minutes in around[at]:
                if other != parent[at]:
                    best = ways[1] if carried[other, at] == ways[0] else ways[0]
                    carried[at, other] = max(own[at], best) + minutes
        return [max([own[at], *(carried[other, at] for other, _ in around[at])]) for at in range(count)]
