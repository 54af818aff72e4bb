from array import array


class Solution:
    def bestTune(self, first, second):
        width = len(second) + 1
        best = array("l", [0]) * (width * (len(first) + 1))
        ended = array("l", [-9]) * (width * (len(first) + 1))
        for i in range(1, len(first) + 1):
            for j in range(1, width):
                here = i * width + j
                before = here - width - 1
                if first[i - 1] == second[j - 1]:
                    ended[here] = max(best[before] + 1, ended[before] + 2)
                best[here] = max(best[here - 1], best[here - width], ended[here])
        return best[-1]
