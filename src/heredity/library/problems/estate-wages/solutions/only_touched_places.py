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
        # The sums are only over places at which an order begins or ends.
        places = sorted({edge for _, i, _ in orders for edge in (begin[i], end[i])})
        number = {place: at + 1 for at, place in enumerate(places)}
        steps, moments, answers = {}, {}, []
        for kind, i, x in orders:
            total = 0
            for sign, edge in ((1, begin[i]), (-1, end[i])):
                at = number[edge]
                if kind:
                    step = moment = 0
                    while at:
                        step += steps.get(at, 0)
                        moment += moments.get(at, 0)
                        at &= at - 1
                    total -= sign * (step * edge - moment)
                else:
                    while at <= len(places):
                        steps[at] = steps.get(at, 0) + sign * x
                        moments[at] = moments.get(at, 0) + sign * x * edge
                        at += at & -at
            if kind:
                answers.append(total)
        return answers
