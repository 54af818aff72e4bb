class Solution:
    def coins(self, skills):
        skills = list(skills)
        low = min(range(len(skills)), key=skills.__getitem__)
        ring = skills[low:] + skills[:low] + [skills[low]]
        slope, total, coin = [], 0, 1
        coins = [1]
        for place in range(1, len(ring)):
            if ring[place] > ring[place - 1]:
                coin += 1
            elif ring[place] < ring[place - 1]:
                coin = 1
            coins.append(coin)
        slope = [len(ring) - 1]
        for place in range(len(ring) - 2, -1, -1):
            if ring[place] < ring[place + 1]:
                slope = [place]
                continue
            least = coins[place + 1] + (ring[place] > ring[place + 1])
            if coins[place] < least:
                coins[place] = least
            slope.append(place)
        return sum(coins[:-1])
