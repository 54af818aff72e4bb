class Solution:
    def expectedJars(self, chances):
        def signed(place, total, sign):
            if place == len(chances):
                return sign / total if total else 0.0
            return signed(place + 1, total, sign) + signed(place + 1, total + chances[place], -sign)

        return signed(0, 0.0, -1)
