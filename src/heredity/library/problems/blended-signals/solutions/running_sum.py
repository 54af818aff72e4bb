class Solution:
    def blends(self, signals):
        # The sum over the stretches that end here changes only by the lamps that are lit here.
        last = {1 << lamp: 0 for lamp in range(30)}
        total = now = 0
        for place, signal in enumerate(signals, 1):
            while signal:
                lamp = signal & -signal
                now += (place - last[lamp]) * lamp
                last[lamp] = place
                signal -= lamp
            total += now
        return total
