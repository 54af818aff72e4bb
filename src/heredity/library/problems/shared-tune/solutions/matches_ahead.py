class Solution:
    def bestTune(self, first, second):
        equal = {note: [other == note for other in second] for note in set(first)}
        best, ended = [0] * (len(second) + 1), [-9] * (len(second) + 1)
        for note in first:
            corner, corner_end, left = 0, -9, 0
            for j, match in enumerate(equal[note], 1):
                above, above_end = best[j], ended[j]
                if match:
                    ended[j] = corner + 1 if corner > corner_end + 1 else corner_end + 2
                    left = max(left, above, ended[j])
                else:
                    ended[j] = -9
                    left = left if left > above else above
                best[j] = left
                corner, corner_end = above, above_end
        return best[-1]
