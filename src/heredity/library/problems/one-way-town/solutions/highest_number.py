class Solution:
    def missing(self, count, streets):
        # Each square learns the highest number that reaches it; who reaches back to that one is of its part.
        back, ahead = [[] for _ in range(count)], [[] for _ in range(count)]
        for a, b in streets:
            if a != b:
                ahead[a].append(b)
                back[b].append(a)
        part, parts = [-1] * count, 0
        into, out = [len(row) for row in back], [len(row) for row in ahead]
        stack = [i for i in range(count) if not into[i] or not out[i]]
        while stack:
            one = stack.pop()
            if part[one] >= 0:
                continue
            part[one] = parts
            parts += 1
            for row, degree in ((ahead[one], into), (back[one], out)):
                for other in row:
                    degree[other] -= 1
                    if not degree[other]:
                        stack.append(other)
        rest = [i for i in range(count) if part[i] < 0]
        while rest:
            highest = {}
            for start in reversed(rest):
                if start in highest:
                    continue
                highest[start] = start
                stack = [start]
                while stack:
                    for other in ahead[stack.pop()]:
                        if part[other] < 0 and other not in highest:
                            highest[other] = start
                            stack.append(other)
            for start in rest:
                if highest[start] == start:
                    part[start] = parts
                    stack = [start]
                    while stack:
                        for other in back[stack.pop()]:
                            if part[other] < 0 and highest.get(other) == start:
                                part[other] = parts
                                stack.append(other)
                    parts += 1
            rest = [i for i in rest if part[i] < 0]
        if parts == 1:
            return 0
        no_way_in, no_way_out = [True] * parts, [True] * parts
        for a, b in streets:
            if part[a] != part[b]:
                no_way_out[part[a]] = no_way_in[part[b]] = False
        return max(sum(no_way_in), sum(no_way_out))
