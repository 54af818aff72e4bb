class Solution:
    def lit(self, lamps, wishes):
        nodes = 2 * lamps
        then, before = [[] for _ in range(nodes)], [[] for _ in range(nodes)]

        def node(wish):
            return 2 * wish - 2 if wish > 0 else -2 * wish - 1

        for a, b in wishes:
            for here, there in ((node(-a), node(b)), (node(-b), node(a))):
                then[here].append(there)
                before[there].append(here)
        order, seen = [], bytearray(nodes)
        for root in range(nodes):
            if seen[root]:
                continue
            seen[root] = 1
            trail = [(root, 0)]
            while trail:
                here, way = trail.pop()
                if way == len(then[here]):
                    order.append(here)
                    continue
                trail.append((here, way + 1))
                there = then[here][way]
                if not seen[there]:
                    seen[there] = 1
                    trail.append((there, 0))
        group = [0] * nodes
        groups = 0
        for root in reversed(order):
            if group[root]:
                continue
            groups += 1
            group[root] = groups
            stack = [root]
            while stack:
                for there in before[stack.pop()]:
                    if not group[there]:
                        group[there] = groups
                        stack.append(there)
        light = []
        for lamp in range(lamps):
            if group[2 * lamp] == group[2 * lamp + 1]:
                return []
            light.append(group[2 * lamp] > group[2 * lamp + 1])
        return light
