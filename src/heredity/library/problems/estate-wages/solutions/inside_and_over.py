class Solution:
    def paid(self, above, orders):
        # What is given inside the team, times who gets it, and what is given above, for each member.
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
        inside, over, own, answers = [0] * (count + 2), [0] * (count + 2), [0] * count, []
        for kind, i, x in orders:
            low, high = begin[i], end[i]
            if kind == 0:
                own[i] += x
                for row, place, value in ((inside, low, x * (high - low)), (over, low, x), (over, high, -x)):
                    place += 1
                    while place <= count:
                        row[place] += value
                        place += place & -place
                continue
            total, given = 0, -own[i]
            place = high
            while place:
                total += inside[place]
                place &= place - 1
            place = low
            while place:
                total -= inside[place]
                place &= place - 1
            place = low + 1
            while place:
                given += over[place]
                place &= place - 1
            answers.append(total + given * (high - low))
        return answers
