class Solution:
    def paid(self, above, orders):
        count = len(above)
        size = [1] * count
        for i in range(count - 1, 0, -1):
            size[above[i]] += size[i]
        begin, free = [0] * count, [1] * count
        for i in range(1, count):
            begin[i] = free[above[i]]
            free[above[i]] += size[i]
            free[i] = begin[i] + 1
        # Changes that begin at a place: their sum, and their sum times the place.
        steps, moments, answers = [0] * (count + 1), [0] * (count + 1), []
        for kind, i, x in orders:
            low, high = begin[i], begin[i] + size[i]
            if kind == 0:
                for place, value in ((low, x), (high, -x)):
                    moment, place = value * place, place + 1
                    while place <= count:
                        steps[place] += value
                        moments[place] += moment
                        place += place & -place
                continue
            total = 0
            for sign, end in ((1, high), (-1, low)):
                step = moment = 0
                place = end
                while place:
                    step += steps[place]
                    moment += moments[place]
                    place &= place - 1
                total += sign * (step * end - moment)
            answers.append(total)
        return answers
