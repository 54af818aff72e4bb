class Solution:
    def missing(self, count, streets):
        ahead, back = [[] for _ in range(count)], [[] for _ in range(count)]
        for a, b in streets:
            ahead[a].append(b)
            back[b].append(a)
        order, seen = [], [False] * count
        for start in range(count):
            stack = [(start, False)]
            while stack:
                one, left = stack.pop()
                if left:
                    order.append(one)
                elif not seen[one]:
                    seen[one] = True
                    stack.append((one, True))
                    stack += [(other, False) for other in ahead[one] if not seen[other]]
        part, parts = [-1] * count, 0
        for start in reversed(order):
            if part[start] < 0:
                part[start] = parts
                stack = [start]
                while stack:
                    for other in back[stack.pop()]:
                        if part[other] < 0:
                            part[other] = parts
                            stack.append(other)
                parts += 1
        return parts if parts > 1 else 0
