class Solution:
    def higher(self, roofs):
        count, answer = len(roofs), []
        for place, roof in enumerate(roofs):
            found = -1
            for away in range(1, count):
                if place - away >= 0 and roofs[place - away] > roof:
                    found = place - away
                    break
                if place + away < count and roofs[place + away] > roof:
                    found = place + away
                    break
            answer.append(found)
        return answer
