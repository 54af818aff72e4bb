class Solution:
    def missing(self, count, streets):
        # Parts are kept as lists; two flags for each, set while they are found.
        ahead = [[] for _ in range(count)]
        for a, b in streets:
            ahead[a].append(b)
        first, low, owner, stack, parts = [None] * count, [None] * count, [None] * count, [], []
        number = 0
        for start in range(count):
            if first[start] is not None:
                continue
            way = [("enter", start, None)]
            while way:
                step, one, other = way.pop()
                if step == "back":
                    low[one] = min(low[one], low[other]) if owner[other] is None else low[one]
                    continue
                if step == "leave":
                    if low[one] == first[one]:
                        part = []
                        while not part or part[-1] != one:
                            part.append(stack.pop())
                            owner[part[-1]] = len(parts)
                        parts.append(part)
                    continue
                if first[one] is not None:
                    continue
                first[one] = low[one] = number
                number += 1
                stack.append(one)
                way.append(("leave", one, None))
                for other in reversed(ahead[one]):
                    way.append(("back", one, other))
                    way.append(("enter", other, None))
        if len(parts) == 1:
            return 0
        no_way_in = set(range(len(parts)))
        no_way_out = set(no_way_in)
        for number, part in enumerate(parts):
            for one in part:
                for other in ahead[one]:
                    if owner[other] != number:
                        no_way_out.discard(number)
                        no_way_in.discard(owner[other])
        return max(len(no_way_in), len(no_way_out))
