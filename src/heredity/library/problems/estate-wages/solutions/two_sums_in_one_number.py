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
        # A number holds the steps, and 2^60 lower the moments.
        shift = 1 << 60
        row, answers = [0] * (count + 1), []
        for kind, i, x in orders:
            total = 0
            for sign, edge in ((1, begin[i]), (-1, end[i])):
                if kind:
                    place = edge
                    both = 0
                    while place:
                        both += row[place]
                        place &= place - 1
                    moment = (both + shift // 2) % shift - shift // 2
                    total -= sign * ((both - moment) // shift * edge - moment)
                else:
                    both, place = sign * x * (shift + edge), edge + 1
                    while place <= count:
                        row[place] += both
                        place += place & -place
            if kind:
                answers.append(total)
        return answers
