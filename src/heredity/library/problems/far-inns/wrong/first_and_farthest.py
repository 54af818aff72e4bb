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
                for other, minutes in around[at]:
                    if far[other] < 0:
                        far[other] = far[at] + minutes
                        stack.append(other)
            return far

        one = distances(inns[0])
        other = distances(max(inns, key=one.__getitem__))
        return list(map(max, one, other))
