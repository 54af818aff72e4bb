class Solution:
    def mirrored(self, ribbon, least):
        # For each start how many pieces begin there, by differences over the halves of the longest pieces.
        count = len(ribbon)
        begin = [0] * (count + 2)
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
                # Arms from the shortest that is long enough.
                short = (least + 1 - even + 1) // 2
                if arm >= short:
                    begin[place - arm + 1 - even] += 1
                    begin[place - short + 2 - even] -= 1
        total = now = 0
        for change in begin:
            now += change
            total += now
        return total
