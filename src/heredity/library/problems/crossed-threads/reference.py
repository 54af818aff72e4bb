class Solution:
    def crossings(self, pegs, reach):
        def sort(values):
            if len(values) < 2:
                return values, 0
            middle = len(values) // 2
            left, one = sort(values[:middle])
            right, other = sort(values[middle:])
            total, place = one + other, 0
            for value in left:
                while place < len(right) and right[place] + reach <= value:
                    place += 1
                total += place
            return sorted(left + right), total

        return sort(pegs)[1]
