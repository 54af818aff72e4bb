from array import array


class Solution:
    def lit(self, lamps, wishes):
        nodes = 2 * lamps

        def rows(pairs):
            begin = array("i", bytes(4 * (nodes + 1)))
            for here, _ in pairs:
                begin[here + 1] += 1
            for node in range(nodes):
                begin[node + 1] += begin[node]
            cursor, ends = begin[:], array("i", bytes(4 * len(pairs)))
            for here, there in pairs:
                ends[cursor[here]] = there
                cursor[here] += 1
            return begin, ends

        pairs = []
        for a, b in wishes:
            a, b = (2 * a - 2 if a > 0 else -2 * a - 1), (2 * b - 2 if b > 0 else -2 * b - 1)
            pairs += [(a ^ 1, b), (b ^ 1, a)]
        begin, ends = rows(pairs)
        cursor, seen, order = begin[:], bytearray(nodes), array("i")
        for root in range(nodes):
            if seen[root]:
                continue
            seen[root] = 1
            stack = array("i", [root])
            while stack:
                here = stack[-1]
                if cursor[here] == begin[here + 1]:
                    order.append(stack.pop())
                    continue
                there = ends[cursor[here]]
                cursor[here] += 1
                if not seen[there]:
                    seen[there] = 1
                    stack.append(there)
        begin, ends = rows([(there, here) for here, there in pairs])
        group = array("i", bytes(4 * nodes))
        for number, root in enumerate(reversed(order), 1):
            if not group[root]:
                group[root] = number
                stack = array("i", [root])
                while stack:
                    here = stack.pop()
                    for way in range(begin[here], begin[here + 1]):
                        if not group[ends[way]]:
                            group[ends[way]] = number
                            stack.append(ends[way])
        light = [group[lamp] - group[lamp + 1] for lamp in range(0, nodes, 2)]
        return [side > 0 for side in light] if all(light) else []
