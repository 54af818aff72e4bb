class Solution:
    def read(self, ring):
        size, twice = len(ring), ring + ring
        one, other, same = 0, 1, 0
        while one < size and other < size and same < size:
            a, b = twice[one + same], twice[other + same]
            if a == b:
                same += 1
                continue
            if a > b:
                one += same + 1
            else:
                other += same + 1
            if one == other:
                other += 1
            same = 0
        begin = min(one, other)
        return twice[begin : begin + size]
