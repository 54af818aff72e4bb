class Solution:
    def withView(self, houses, clear):
        seen, highest = [], -(10**10)

        def walk(low, high):
            nonlocal highest
            if high - low == 1:
                if houses[low] >= highest + clear:
                    seen.append(low)
                highest = max(highest, houses[low])
                return
            middle = (low + high) // 2
            walk(middle, high)
            walk(low, middle)

        walk(0, len(houses))
        seen.reverse()
        return seen
