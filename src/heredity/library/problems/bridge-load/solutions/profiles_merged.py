class Solution:
    def heaviest(self, crossings):
        def profile(low, high):
            """The load from each time on, for wagons low to high - 1."""
            if high - low == 1:
                enter, leave, weight = crossings[low]
                return [(enter, weight), (leave + 1, 0)]
            middle = (low + high) // 2
            one, other = profile(low, middle), profile(middle, high)
            out, i, j, a, b = [], 0, 0, 0, 0
            while i < len(one) or j < len(other):
                time = min(one[i][0] if i < len(one) else 10**13, other[j][0] if j < len(other) else 10**13)
                while i < len(one) and one[i][0] == time:
                    a = one[i][1]
                    i += 1
                while j < len(other) and other[j][0] == time:
                    b = other[j][1]
                    j += 1
                out.append((time, a + b))
            return out

        time, load = max(profile(0, len(crossings)), key=lambda step: (step[1], -step[0]))
        return [time, load]
