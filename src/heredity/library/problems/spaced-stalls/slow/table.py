class Solution:
    def takings(self, places, stalls):
        none = -(10**18)
        before, last = [0] + [none] * stalls, [0] + [none] * stalls
        for value in places:
            now = last[:]
            for count in range(1, stalls + 1):
                one = before[count - 1] + value
                if one > now[count]:
                    now[count] = one
            before, last = last, now
        return last[stalls]
