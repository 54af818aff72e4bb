class Solution:
    def missing(self, count, streets):
        # A street back to the way there makes one of all squares between: groups are joined at once.
        ahead = [[] for _ in range(count)]
        for a, b in streets:
            ahead[a].append(b)
        head, state = list(range(count)), bytearray(count)

        def find(x):
            while head[x] != x:
                head[x] = x = head[head[x]]
            return x

        at = [0] * count
        for start in range(count):
            if state[start]:
                continue
            stack, way = [start], [start]
            state[start] = 1
            while stack:
                one = stack[-1]
                if at[one] < len(ahead[one]):
                    other = ahead[one][at[one]]
                    at[one] += 1
                    if not state[other]:
                        state[other] = 1
                        stack.append(other)
                        way.append(other)
                    elif state[find(other)] == 1:
                        top = find(other)
                        while way[-1] != top:
                            head[way.pop()] = top
                else:
                    stack.pop()
                    if way and way[-1] == one:
                        way.pop()
                        state[one] = 2
        part, names = [], {}
        for one in range(count):
            part.append(names.setdefault(find(one), len(names)))
        parts = len(names)
        if parts == 1:
            return 0
        no_way_in, no_way_out = [True] * parts, [True] * parts
        for a, b in streets:
            if part[a] != part[b]:
                no_way_out[part[a]] = no_way_in[part[b]] = False
        return max(sum(no_way_in), sum(no_way_out))
