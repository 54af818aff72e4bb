from bisect import bisect_left, insort


class Solution:
    def crossings(self, pegs, reach):
        def sort(low, high):
            if high - low <= 1500:
                seen, total = [], 0
                for peg in pegs[low:high]:
                    total += len(seen) - bisect_left(seen, peg + reach)
                    insort(seen, peg)
                return seen, total
            middle = (low + high) // 2
            left, one = sort(low, middle)
            right, other = sort(middle, high)
            place, across = 0, 0
            for peg in left:
                while place < len(right) and right[place] + reach <= peg:
                    place += 1
                across += place
            left += right
            left.sort()
            return left, one + other + across

        return sort(0, len(pegs))[1]
