class Solution:
    def halving(self, count, roads, least):
        around = [[] for _ in range(count)]
        for number, (a, b) in enumerate(roads):
            around[a].append((b, number))
            around[b].append((a, number))
        answer = []
        for closed in range(len(roads)):
            seen, stack = {0}, [0]
            while stack:
                for other, number in around[stack.pop()]:
                    if number != closed and other not in seen:
                        seen.add(other)
                        stack.append(other)
            if least <= len(seen) <= count - least:
                answer.append(closed)
        return answer
