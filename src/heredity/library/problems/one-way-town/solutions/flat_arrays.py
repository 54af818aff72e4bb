class Solution:
    def missing(self, count, streets):
        def flat(column):
            # Streets sorted by one of their ends: where each square's begin, and the other ends.
            begin = [0] * (count + 1)
            for street in streets:
                begin[street[column] + 1] += 1
            for i in range(count):
                begin[i + 1] += begin[i]
            free, ends = begin[:], [0] * len(streets)
            for street in streets:
                ends[free[street[column]]] = street[1 - column]
                free[street[column]] += 1
            return begin, ends

        begin, ends = flat(0)
        at, order, seen = begin[:], [], bytearray(count)
        for start in range(count):
            if not seen[start]:
                seen[start] = 1
                stack = [start]
                while stack:
                    one = stack[-1]
                    if at[one] < begin[one + 1]:
                        other = ends[at[one]]
                        at[one] += 1
                        if not seen[other]:
                            seen[other] = 1
                            stack.append(other)
                    else:
                        order.append(stack.pop())
        begin, ends = flat(1)
        part, parts = [-1] * count, 0
        for start in reversed(order):
            if part[start] < 0:
                part[start] = parts
                stack = [start]
                while stack:
                    one = stack.pop()
                    for i in range(begin[one], begin[one + 1]):
                        if part[ends[i]] < 0:
                            part[ends[i]] = parts
                            stack.append(ends[i])
                parts += 1
        if parts == 1:
            return 0
        no_way_in, no_way_out = [True] * parts, [True] * parts
        for a, b in streets:
            if part[a] != part[b]:
                no_way_out[part[a]] = no_way_in[part[b]] = False
        return max(sum(no_way_in), sum(no_way_out))
