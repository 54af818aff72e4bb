class Solution:
    def takings(self, places, stalls):
        def best(fee):
            sums, counts = [0, -(10**18)], [0, 0]
            for value in places:
                if sums[1] > sums[0] or sums[1] == sums[0] and counts[1] > counts[0]:
                    new = [sums[1], counts[1]]
                else:
                    new = [sums[0], counts[0]]
                sums = [new[0], sums[0] + value - fee]
                counts = [new[1], counts[0] + 1]
            return max(zip(sums, counts))

        # A fee at which neither more nor fewer stalls are better; steps get smaller by half.
        fee, step = 10**10, 1 << 46
        while step:
            if best(fee - step)[1] < stalls:
                fee -= step
            step //= 2
        fee -= 1
        return best(fee)[0] + fee * stalls
