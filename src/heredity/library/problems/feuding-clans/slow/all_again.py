class Solution:
    def lie(self, count, sayings):
        near = [[] for _ in range(count)]
        for number, (a, b, apart) in enumerate(sayings):
            near[a].append((b, apart))
            near[b].append((a, apart))
            clan, stack = {a: 0}, [a]
            while stack:
                c = stack.pop()
                for d, other in near[c]:
                    if d not in clan:
                        clan[d] = clan[c] ^ other
                        stack.append(d)
                    elif clan[d] != clan[c] ^ other:
                        return number
        return -1
