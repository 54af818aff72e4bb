import sys


class Solution:
    def missing(self, count, streets):
        sys.setrecursionlimit(50_000)
        ahead = [[] for _ in range(count)]
        for a, b in streets:
            ahead[a].append(b)
        low, part, stack, parts = {}, [-1] * count, [], 0

        def visit(one):
            nonlocal parts
            low[one] = mine = len(low)
            stack.append(one)
            for other in ahead[one]:
                if other not in low:
                    visit(other)
                if part[other] < 0 and low[other] < low[one]:
                    low[one] = low[other]
            if low[one] == mine:
                while part[one] < 0:
                    part[stack.pop()] = parts
                parts += 1

        for start in range(count):
            if start not in low:
                visit(start)
        if parts == 1:
            return 0
        no_way_in, no_way_out = [True] * parts, [True] * parts
        for a, b in streets:
            if part[a] != part[b]:
                no_way_out[part[a]] = no_way_in[part[b]] = False
        return max(sum(no_way_in), sum(no_way_out))
