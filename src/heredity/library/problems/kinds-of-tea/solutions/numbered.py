class Solution:
    def tastings(self, teas, low, high):
        number = {}
        row = [number.setdefault(tea, len(number)) for tea in teas]

        def up_to(kinds):
            count, start, total, room = [0] * len(number), 0, 0, kinds
            for place, tea in enumerate(row):
                if not count[tea]:
                    room -= 1
                count[tea] += 1
                while room < 0:
                    count[row[start]] -= 1
                    if not count[row[start]]:
                        room += 1
                    start += 1
                total += place + 1 - start
            return total

        return up_to(high) - up_to(low - 1)
