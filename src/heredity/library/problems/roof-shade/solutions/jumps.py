class Solution:
    def higher(self, roofs):
        count = len(roofs)
        left, right = [-1] * count, [-1] * count
        for place in range(count):
            other = place - 1
            while other >= 0 and roofs[other] <= roofs[place]:
                other = left[other]
            left[place] = other
        for place in range(count - 1, -1, -1):
            other = place + 1 if place + 1 < count else -1
            while other >= 0 and roofs[other] <= roofs[place]:
                other = right[other]
            right[place] = other
        answer = []
        for place in range(count):
            one, other = left[place], right[place]
            answer.append(other if one < 0 or other >= 0 and other - place < place - one else one)
        return answer
