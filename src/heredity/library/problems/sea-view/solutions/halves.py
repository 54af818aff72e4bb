class Solution:
    def withView(self, houses, clear):
        def look(low, high):
            # The houses with a view among low to high - 1, and the highest one.
            if high - low == 1:
                return [low], houses[low]
            middle = (low + high) // 2
            left, one = look(low, middle)
            right, other = look(middle, high)
            return [place for place in left if houses[place] >= other + clear] + right, max(one, other)

        return look(0, len(houses))[0]
