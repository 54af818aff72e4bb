class Solution:
    def farthest(self, roads, inns):
        count = len(roads) + 1
        around = [[] for _ in range(count)]
        for a, b, minutes in roads:
            around[a].append((b, minutes))
            around[b].append((a, minutes))

        def distances(start):
            far, stack = [-1] * count, [start]
            far[start] = 0
            while stack:
                at = stack.pop()
                here = far[at]
                for other, minutes in around[at]:
                    if far[other] < 0:
                        far[other] = here + minutes
                        stack.append(other)
            return far

        # One of the two inns that are farthest apart is a farthest from anywhere.
        any_inn = distances(inns[0])
        one = distances(max(inns, key=any_inn.__getitem__))
        other = distances(max(inns, key=one.__getitem__))
        return list(map(max, one, other))
