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
        # With the order known, distances from a hamlet are found by going up from it and then once down.

        def distances(start):
            far = [-1] * count
            far[start] = 0
            at = start
            while parent[at] >= 0:
                far[parent[at]] = far[at] + length[at]
                at = parent[at]
            for at in order:
                if far[at] < 0:
                    far[at] = far[parent[at]] + length[at]
            return far

        one = inns[0]
        for _ in range(2):
            far = distances(one)
            before, one = far, max(inns, key=far.__getitem__)
        return list(map(max, before, distances(one)))
