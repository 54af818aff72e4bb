class Solution:
    def mirrored(self, ribbon, least):
        count, total = len(ribbon), 0
        for even in (0, 1):
            reach, low, high = [0] * count, 0, -1
            for place in range(count):
                arm = 1 - even if place > high else min(reach[low + high - place + even], high - place + 1)
                while (
                    place + arm < count
                    and place - arm - even >= 0
                    and ribbon[place + arm] == ribbon[place - arm - even]
                ):
                    arm += 1
                reach[place] = arm
                if place + arm - 1 > high:
                    low, high = place - arm + 1 - even, place + arm - 1
                longest = 2 * arm - 1 + even
                total += max(0, (longest - least) // 2 + 1)
        return total
