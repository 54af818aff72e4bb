class Solution:
    def read(self, ring):
        def least(text):
            twice, size, begin, answer = text + text, len(text), 0, 0
            while begin < size:
                answer = begin
                ahead, back = begin + 1, begin
                while ahead < 2 * size and twice[back] <= twice[ahead]:
                    back = begin if twice[back] < twice[ahead] else back + 1
                    ahead += 1
                while begin <= back:
                    begin += ahead - back
            return twice[answer : answer + size]

        return min(least(ring), least(ring[::-1]))
