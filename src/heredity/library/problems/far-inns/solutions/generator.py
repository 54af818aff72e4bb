class Solution:
    def farthest(self, roads, inns):
        count = len(roads) + 1
        around = [[] for _ in range(count)]
        for a, b, minutes in roads:
            around[a].append((b, minutes))
            around[b].append((a, minutes))

        def walk(start):
            stack = [(start, -1, 0)]
            while stack:
                at, before, minutes = stack.pop()
                yield minutes, at
                stack += [(other, at, minutes + more) for other, more in around[at] if other != before]

        has = bytearray(count)
        for inn in inns:
            has[inn] = 1
        _, one = max(step for step in walk(inns[0]) if has[step[1]])
        _, other = max(step for step in walk(one) if has[step[1]])
        pairs = zip(sorted(walk(one), key=lambda step: step[1]), sorted(walk(other), key=lambda step: step[1]))
        return [max(a, b) for (a, _), (b, _) in pairs]
