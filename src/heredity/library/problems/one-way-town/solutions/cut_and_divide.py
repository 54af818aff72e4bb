class Solution:
    def missing(self, count, streets):
        # Squares without a way in or out are parts of their own; the others are divided by what a square reaches.
        ahead, back = [[] for _ in range(count)], [[] for _ in range(count)]
        for a, b in streets:
            if a != b:
                ahead[a].append(b)
                back[b].append(a)
        part, parts, colour = [-1] * count, 0, [0] * count
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
        colours, groups = 1, [[i for i in range(count) if part[i] < 0]]
        while groups:
            group = groups.pop()
            if not group:
                continue
            start = group[len(group) // 2]
            mine, found = colour[start], []
            for after in (ahead, back):
                reached = {start}
                stack = [start]
                while stack:
                    for other in after[stack.pop()]:
                        if part[other] < 0 and colour[other] == mine and other not in reached:
                            reached.add(other)
                            stack.append(other)
                found.append(reached)
            both = found[0] & found[1]
            for one in both:
                part[one] = parts
            parts += 1
            rest = ([i for i in found[0] if i not in both], [i for i in found[1] if i not in both])
            for row in (*rest, [i for i in group if i not in found[0] and i not in found[1]]):
                for one in row:
                    colour[one] = colours
                colours += 1
                groups.append(row)
        if parts == 1:
            return 0
        no_way_in, no_way_out = [True] * parts, [True] * parts
        for a, b in streets:
            if part[a] != part[b]:
                no_way_out[part[a]] = no_way_in[part[b]] = False
        return max(sum(no_way_in), sum(no_way_out))
