class Solution:
    def heaviest(self, crossings):
        entering = sorted((enter, weight) for enter, _, weight in crossings)
        leaving = sorted((leave, weight) for _, leave, weight in crossings)
        gone = load = 0
        best = [0, 0]
        for time, weight in entering:
            while leaving[gone][0] < time:
                load -= leaving[gone][1]
                gone += 1
            load += weight
            if load > best[1]:
                best = [time, load]
        return best
