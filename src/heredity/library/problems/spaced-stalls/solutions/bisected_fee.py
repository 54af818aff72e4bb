from bisect import bisect_left


class Solution:
    def takings(self, places, stalls):
        def run(fee):
            a = b = 0
            x, y = -(10**18), 0
            for value in places:
                value += a - fee
                count = b + 1
                if x > a or x == a and y < b:
                    a, b = x, y
                x, y = value, count
            return (x, y) if x > a or x == a and y < b else (a, b)

        low = -(10**14)
        fee = low + bisect_left(range(10**14 + 10**10), True, key=lambda more: run(low + more)[1] <= stalls)
        return run(fee)[0] + fee * stalls
