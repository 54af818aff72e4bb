class Solution:
    def coins(self, skills):
        coins = [1] * len(skills)
        while True:
            # Everybody looks at the neighbours' coins of the round before.
            new = []
            for i in range(len(skills)):
                least = coins[i]
                for j in (i - 1, (i + 1) % len(skills)):
                    if skills[i] >= skills[j]:
                        least = max(least, coins[j] + (skills[i] > skills[j]))
                new.append(least)
            if new == coins:
                return sum(coins)
            coins = new
