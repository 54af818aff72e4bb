class Solution:
    def coins(self, skills):
        # Each valley sends a count up both its slopes.
        count = len(skills)
        if min(skills) == max(skills):
            return count
        start = skills.index(min(skills))
        ring = skills[start:] + skills[:start]
        coins = [1] * count
        for step in (1, -1):
            coin = 1
            place = 0
            for _ in range(count):
                after = (place + step) % count
                difference = ring[after] - ring[place]
                coin = 1 if difference < 0 else coin + (difference > 0)
                if coin > coins[after]:
                    coins[after] = coin
                place = after
        return sum(coins)
