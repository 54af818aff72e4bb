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
        # For each part of the tree its pair of inns that are farthest apart, joined from below.
        depth, top = [0] * count, order[0]
        for at in order[1:]:
            depth[at] = depth[parent[at]] + length[at]
        none = (-(10**18), -1)
        deepest = [none] * count
        best = (-1, inns[0], inns[0])
        for inn in inns:
            deepest[inn] = (depth[inn], inn)
            best = max(best, (0, inn, inn))
        for at in reversed(order[1:]):
            up, one, other = parent[at], deepest[at], deepest[parent[at]]
            if one[1] >= 0 and other[1] >= 0:
                best = max(best, (one[0] + other[0] - 2 * depth[up], one[1], other[1]))
            deepest[up] = max(one, other)
        answer = [0] * count
        for end in best[1:]:
            far, stack = {end: 0}, [end]
            while stack:
                at = stack.pop()
                answer[at] = max(answer[at], far[at])
                for other, minutes in around[at]:
                    if other not in far:
                        far[other] = far[at] + minutes
                        stack.append(other)
        return answer
