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
        width = 128
        steps, moments = [0] * (count + width), [0] * (count + width)
        block_steps, block_moments, answers = [0] * (count // width + 2), [0] * (count // width + 2), []

        def upto(place):
            block = place // width
            step = sum(block_steps[:block]) + sum(steps[block * width : place])
            return step * place - sum(block_moments[:block]) - sum(moments[block * width : place])

        for kind, i, x in orders:
            if kind:
                answers.append(upto(end[i]) - upto(begin[i]))
                continue
            for place, value in ((begin[i], x), (end[i], -x)):
                steps[place] += value
                moments[place] += value * place
                block_steps[place // width] += value
                block_moments[place // width] += value * place
        return answers
