class Solution:
    def missing(self, count, streets):
        ahead = [[] for _ in range(count)]
        for a, b in streets:
            ahead[a].append(b)
        low, part, number, stack, parts = [0] * count, [-1] * count, 0, [], 0
        at = [0] * count
        for start in range(count):
            if low[start]:
                continue
            way, first = [start], {}
            number += 1
            low[start] = first[start] = number
            stack.append(start)
            while way:
                one = way[-1]
                if at[one] < len(ahead[one]):
                    other = ahead[one][at[one]]
                    at[one] += 1
                    if not low[other]:
                        number += 1
                        low[other] = first[other] = number
                        way.append(other)
                        stack.append(other)
                    elif part[other] < 0:
                        low[one] = min(low[one], low[other])
                    continue
                way.pop()
                if way:
                    low[way[-1]] = min(low[way[-1]], low[one])
                if low[one] == first[one]:
                    while part[one] < 0:
                        part[stack.pop()] = parts
                    parts += 1
        if parts == 1:
            return 0
        no_way_in, no_way_out = [True] * parts, [True] * parts
        for a, b in streets:
            if part[a] != part[b]:
                no_way_out[part[a]] = no_way_in[part[b]] = False
        return max(sum(no_way_in), sum(no_way_out))
