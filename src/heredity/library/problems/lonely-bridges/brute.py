class Solution:
    def halving(self, count, roads, least):
        answer = []
        for closed in range(len(roads)):
            part = {0}
            for _ in range(count):
                for number, (a, b) in enumerate(roads):
                    if number != closed and (a in part or b in part):
                        part |= {a, b}
            if least <= len(part) <= count - least:
                answer.append(closed)
        return answer
