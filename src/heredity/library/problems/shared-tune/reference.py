class Solution:
    def bestTune(self, first, second):
        width = len(second)
        best, ended = [0] * (width + 1), [-9] * (width + 1)
        for note in first:
            new_best, new_ended, left = [0], [-9], 0
            for column in range(width):
                top = best[column + 1]
                if top > left:
                    left = top
                if second[column] == note:
                    here = best[column] + 1
                    if ended[column] + 2 > here:
                        here = ended[column] + 2
                    new_ended.append(here)
                    if here > left:
                        left = here
                else:
                    new_ended.append(-9)
                new_best.append(left)
            best, ended = new_best, new_ended
        return best[-1]
