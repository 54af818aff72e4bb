class Solution:
    def read(self, ring):
        period = (ring + ring).find(ring, 1)
        once, times = ring[:period], len(ring) // period
        found = []
        for text in (once, once[::-1]):
            twice, begin, answer = text + text, 0, 0
            while begin < period:
                answer, ahead, back = begin, begin + 1, begin
                while ahead < len(twice) and twice[back] <= twice[ahead]:
                    if twice[back] < twice[ahead]:
                        back = begin
                    else:
                        back += 1
                    ahead += 1
                begin += (back - begin) // (ahead - back) * (ahead - back) + ahead - back
            found.append(twice[answer : answer + period])
        return min(found) * times
