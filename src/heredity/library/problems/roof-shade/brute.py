class Solution:
    def higher(self, roofs):
        answer = []
        for place, roof in enumerate(roofs):
            higher = [other for other in range(len(roofs)) if roofs[other] > roof]
            answer.append(min(higher, key=lambda other: (abs(other - place), other), default=-1))
        return answer
