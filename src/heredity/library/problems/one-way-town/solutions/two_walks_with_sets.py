class Solution:
    def missing(self, count, streets):
        ahead, back = {i: set() for i in range(count)}, {i: set() for i in range(count)}
        for a, b in streets:
            if a != b:
                ahead[a].add(b)
                back[b].add(a)
        order, seen = [], set()
        for start in range(count):
            if start in seen:
                continue
            seen.add(start)
            stack = [(start, iter(ahead[start]))]
            while stack:
                one, rest = stack[-1]
                for other in rest:
                    if other not in seen:
                        seen.add(other)
                        stack.append((other, iter(ahead[other])))
                        break
                else:
                    order.append(one)
                    stack.pop()
        groups, part = [], {}
        for start in reversed(order):
            if start not in part:
                group, part[start] = [start], len(groups)
                for one in group:
                    for other in back[one]:
                        if other not in part:
                            part[other] = len(groups)
                            group.append(other)
                groups.append(group)
        if len(groups) == 1:
            return 0
        first = sum(all(part[a] == i for one in group for a in back[one]) for i, group in enumerate(groups))
        last = sum(all(part[b] == i for one in group for b in ahead[one]) for i, group in enumerate(groups))
        return max(first, last)
