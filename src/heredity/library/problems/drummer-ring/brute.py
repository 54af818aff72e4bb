class Solution:
    def coins(self, skills):
        coins, changed = [1] * len(skills), True
        while changed:
            changed = False
            for i in range(len(skills)):
                for j in (i - 1, (i + 1) % len(skills)):
                    least = coins[j] + (skills[i] > skills[j])
                    if skills[i] >= skills[j] and coins[i] < least:
                        coins[i], changed = least, True
        return sum(coins)
