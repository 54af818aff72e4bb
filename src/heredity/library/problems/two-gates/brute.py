class Solution:
    def twoGates(self, tolls, purse):
        for i in range(len(tolls)):
            for j in range(i + 1, len(tolls)):
                if tolls[i] + tolls[j] == purse:
                    return [i, j]
        return [-1, -1]
