class Solution:
    def ledger(self, levels):
        count = len(levels)
        up, down, total = [-1], [-1], 0
        for place in range(count + 1):
            level = levels[place] if place < count else None
            while len(up) > 1 and (level is None or levels[up[-1]] <= level):
                day = up.pop()
                total += levels[day] * ((day - up[-1]) * (place - day) * (place - up[-1]) // 2)
            while len(down) > 1 and (level is None or levels[down[-1]] >= level):
                day = down.pop()
                total -= levels[day] * ((day - down[-1]) * (place - day) * (place - down[-1]) // 2)
            up.append(place)
            down.append(place)
        return total
