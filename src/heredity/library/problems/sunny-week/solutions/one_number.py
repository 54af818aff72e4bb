class Solution:
    def arrival(self, days, length):
        # A day of sun outweighs all rain there can be.
        much = len(days) + 1
        worth = {"S": much, "C": 0, "R": -1}
        now = best = sum(map(worth.__getitem__, days[:length]))
        arrival = 0
        for day, (gone, come) in enumerate(zip(days, days[length:]), 1):
            now += worth[come] - worth[gone]
            if now > best:
                best, arrival = now, day
        return arrival
