class Solution:
    def needless(self, count, roads):
        near, found = [[] for _ in range(count)], []
        for number, (a, b) in enumerate(roads):
            seen, order = {a}, [a]
            for c in order:
                for d in near[c]:
                    if d not in seen:
                        seen.add(d)
                        order.append(d)
            if b in seen:
                found.append(number)
            else:
                near[a].append(b)
                near[b].append(a)
        return found
