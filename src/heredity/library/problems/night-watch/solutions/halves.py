class Solution:
    def unwatched(self, watches):
        def joined(low, high):
            if high - low == 1:
                return [watches[low]]
            middle = (low + high) // 2
            out = []
            for start, end in sorted(joined(low, middle) + joined(middle, high)):
                if out and start <= out[-1][1]:
                    if end > out[-1][1]:
                        out[-1] = [out[-1][0], end]
                else:
                    out.append([start, end])
            return out

        whole = joined(0, len(watches))
        best = []
        for (_, end), (start, _) in zip(whole, whole[1:]):
            if not best or start - end > best[1] - best[0]:
                best = [end, start]
        return best
