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
        none = -(10**18)
        down, up = [none] * count, [none] * count
        for inn in inns:
            down[inn] = up[inn] = 0
        own = down[:]
        children = [[] for _ in range(count)]
        for at in order[1:]:
            children[parent[at]].append(at)
        for at in reversed(order):
            down[at] = max([own[at], *(down[child] + length[child] for child in children[at])])
        up[order[0]] = own[order[0]]
        for at in order:
            row = children[at]
            # The best of those before each child, and of those behind it.
            best = max(up[at], own[at])
            for child in row:
                up[child] = max(own[child], best + length[child])
                best = max(best, down[child] + length[child])
            best = none
            for child in reversed(row):
                up[child] = max(up[child], best + length[child])
                best = max(best, down[child] + length[child])
        return [max(pair) for pair in zip(down, up)]
