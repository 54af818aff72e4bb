class Solution:
    def expectedJars(self, chances):
        total, taken, sign, answer = 0.0, 0, -1, 0.0
        for step in range(1, 1 << len(chances)):
            place = (step & -step).bit_length() - 1
            taken ^= 1 << place
            total += chances[place] if taken >> place & 1 else -chances[place]
            sign = -sign
            answer += sign / total
        return answer
