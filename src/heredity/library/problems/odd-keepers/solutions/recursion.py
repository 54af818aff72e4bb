class Solution:
    def stillLit(self, lamps):
        def root(number):
            if number < 2:
                return number
            half = 2 * root(number // 4)
            return half + ((half + 1) ** 2 <= number)

        return root(lamps) + root(lamps // 2)
