class Solution:
    def blends(self, signals):
        places = [[-1] for _ in range(30)]
        for place, signal in enumerate(signals):
            while signal:
                low = signal & -signal
                places[low.bit_length() - 1].append(place)
                signal ^= low
        total, count = 0, len(signals)
        for lamp, lit in enumerate(places):
            # The first lit signal of a stretch is this one: the start is after the one before, the stop is anywhere after.
            total += sum((one - before) * (count - one) for before, one in zip(lit, lit[1:])) << lamp
        return total
