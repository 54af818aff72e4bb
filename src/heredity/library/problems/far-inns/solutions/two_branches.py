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
        # The longest and the second longest way down to an inn, by different children.
        none = -(10**18)
        first, second = [none] * count, [none] * count
        for inn in inns:
            first[inn] = second[inn] = 0
        for at in reversed(order[1:]):
            up, way = parent[at], first[at] + length[at]
            if way > first[up]:
                first[up], second[up] = way, first[up]
            elif way > second[up]:
                second[up] = way
        for at in order[1:]:
            up = parent[at]
            above = (second[up] if first[up] == first[at] + length[at] else first[up]) + length[at]
            if above > first[at]:
                first[at], second[at] = above, first[at]
            elif above > second[at]:
                second[at] = above
        return first
