class Solution:
    def missing(self, count, streets):
        # Besides the stack of the squares, one of those that may be the first of a part.
        ahead = [[] for _ in range(count)]
        for a, b in streets:
            ahead[a].append(b)
        first, part, parts, number = [0] * count, [-1] * count, 0, 0
        open_squares, maybe = [], []
        for start in range(count):
            if first[start]:
                continue
            stack = [(start, 0)]
            while stack:
                one, at = stack.pop()
                if at == 0:
                    number += 1
                    first[one] = number
                    open_squares.append(one)
                    maybe.append(one)
                row = ahead[one]
                while at < len(row):
                    other = row[at]
                    at += 1
                    if not first[other]:
                        stack += [(one, at), (other, 0)]
                        break
                    if part[other] < 0:
                        while first[maybe[-1]] > first[other]:
                            maybe.pop()
                else:
                    if maybe[-1] == one:
                        maybe.pop()
                        while part[one] < 0:
                            part[open_squares.pop()] = parts
                        parts += 1
        if parts == 1:
            return 0
        no_way_in, no_way_out = [True] * parts, [True] * parts
        for a, b in streets:
            if part[a] != part[b]:
                no_way_out[part[a]] = no_way_in[part[b]] = False
        return max(sum(no_way_in), sum(no_way_out))
