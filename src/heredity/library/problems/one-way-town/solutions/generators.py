class Solution:
    def missing(self, count, streets):
        ahead, back = [[] for _ in range(count)], [[] for _ in range(count)]
        for a, b in streets:
            ahead[a].append(b)
            back[b].append(a)

        def walk(start, after, seen):
            # The squares in the order in which the walk leaves them.
            stack = [start]
            seen.add(start)
            while stack:
                one = stack.pop()
                if one < 0:
                    yield ~one
                    continue
                stack.append(~one)
                for other in after[one]:
                    if other not in seen:
                        seen.add(other)
                        stack.append(other)

        def finished():
            # A true order of leaving: neighbours are taken up one at a time.
            seen, rest = set(), [iter(row) for row in ahead]
            for start in range(count):
                if start not in seen:
                    seen.add(start)
                    stack = [start]
                    while stack:
                        other = next((one for one in rest[stack[-1]] if one not in seen), None)
                        if other is None:
                            yield stack.pop()
                        else:
                            seen.add(other)
                            stack.append(other)

        part, parts, seen = [-1] * count, 0, set()
        for start in reversed(list(finished())):
            if start not in seen:
                for one in walk(start, back, seen):
                    part[one] = parts
                parts += 1
        if parts == 1:
            return 0
        no_way_in, no_way_out = [True] * parts, [True] * parts
        for a, b in streets:
            if part[a] != part[b]:
                no_way_out[part[a]] = no_way_in[part[b]] = False
        return max(sum(no_way_in), sum(no_way_out))
