class Solution:
    def blends(self, signals):
        # blends[i] is the blend from i to here; it changes at most 30 times, and nothing before an unchanged one does.
        blends, now, total = [], 0, 0
        for signal in signals:
            blends.append(signal)
            now += signal
            place = len(blends) - 2
            while place >= 0 and blends[place] | signal != blends[place]:
                now += (blends[place] | signal) - blends[place]
                blends[place] |= signal
                place -= 1
            total += now
        return total
