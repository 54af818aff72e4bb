class Solution:
    def missing(self, count, streets):
        # Only first parts and last parts are counted: starts that are needed to reach all, along the streets and against them.
        def starts(pairs):
            after = [[] for _ in range(count)]
            for a, b in pairs:
                after[a].append(b)
            order, at, seen = [], [0] * count, bytearray(count)
            for start in range(count):
                if seen[start]:
                    continue
                seen[start] = 1
                stack = [start]
                while stack:
                    one = stack[-1]
                    if at[one] == len(after[one]):
                        order.append(stack.pop())
                        continue
                    other = after[one][at[one]]
                    at[one] += 1
                    if not seen[other]:
                        seen[other] = 1
                        stack.append(other)
            needed, seen = [], bytearray(count)
            for start in reversed(order):
                if seen[start]:
                    continue
                needed.append(start)
                stack = [start]
                seen[start] = 1
                while stack:
                    for other in after[stack.pop()]:
                        if not seen[other]:
                            seen[other] = 1
                            stack.append(other)
            return needed, after

        first, after = starts(streets)
        last, back = starts([(b, a) for a, b in streets])
        if len(first) > 1 or len(last) > 1:
            return max(len(first), len(last))
        # One first and one last part: are they the same?
        found, stack = {last[0]}, last[:]
        while stack:
            for other in after[stack.pop()]:
                if other not in found:
                    found.add(other)
                    stack.append(other)
        return 0 if first[0] in found else 1
