class Solution:
    def mirrored(self, ribbon, least):
        total = 0
        for place in range(len(ribbon)):
            arm = 0
            while arm <= min(place, len(ribbon) - 1 - place) and ribbon[place - arm] == ribbon[place + arm]:
                total += 2 * arm + 1 >= least
                arm += 1
                if arm > 2000:
                    break
        return total
