class Sums:
    def __init__(self, count):
        self.row = [0] * (count + 1)

    def add(self, place, value):
        place += 1
        while place < len(self.row):
            self.row[place] += value
            place += place & -place

    def upto(self, place):
        total = 0
        while place:
            total += self.row[place]
            place -= place & -place
        return total


class Solution:
    def paid(self, above, orders):
        count = len(above)
        size = [1] * count
        for i in range(count - 1, 0, -1):
            size[above[i]] += size[i]
        begin, end = [0] * count, [count] * count
        free = [1] * count
        for i in range(1, count):
            begin[i] = free[above[i]]
            end[i] = free[above[i]] = begin[i] + size[i]
            free[i] = begin[i] + 1
        steps, moments, answers = Sums(count), Sums(count), []
        for kind, i, x in orders:
            low, high = begin[i], end[i]
            if kind:
                answers.append(steps.upto(high) * high - moments.upto(high) - steps.upto(low) * low + moments.upto(low))
            else:
                steps.add(low, x)
                moments.add(low, x * low)
                steps.add(high, -x)
                moments.add(high, -x * high)
        return answers
