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
        rows = []
        width = 1
        while width < count:
            rows.append((width, [0] * (count // width + 26), [0] * (count // width + 26)))
            width *= 25
        rows = rows or [(1, [0] * 27, [0] * 27)]
        answers = []

        def upto(place):
            step = moment = 0
            for width, steps, moments in rows:
                last = place // width
                first = last // 25 * 25 if width != rows[-1][0] else 0
                step += sum(steps[first:last])
                moment += sum(moments[first:last])
            return step * place - moment

        for kind, i, x in orders:
            if kind:
                answers.append(upto(end[i]) - upto(begin[i]))
            else:
                for place, value in ((begin[i], x), (end[i], -x)):
                    for width, steps, moments in rows:
                        steps[place // width] += value
                        moments[place // width] += value * place
        return answers
