class Solution:
    def read(self, ring):
        def common(text, one, other, most):
            # How many letters are the same, by slices that double and halve.
            same, step = 0, 1
            while same < most and text[one + same : one + same + step] == text[other + same : other + same + step]:
                same += step
                step *= 2
            while step:
                if text[one + same : one + same + step] == text[other + same : other + same + step]:
                    same += step
                step //= 2
            return same

        def least(text):
            size, twice = len(text), text * 4
            one, other = 0, 1
            while one < size and other < size:
                same = common(twice, one, other, size)
                if same >= size:
                    break
                if twice[one + same] > twice[other + same]:
                    one += same + 1
                else:
                    other += same + 1
                other += one == other
            begin = min(one, other)
            return twice[begin : begin + size]

        return min(least(ring), least(ring[::-1]))
