class Solution:
    def pairs(self, signals, limit):
        zero, one, many = [0], [0], [0]
        total = 0
        if limit > 65_535:
            return len(signals) * (len(signals) - 1) // 2
        for signal in signals:
            node = alive = 0
            seeking = len(many) > 1
            for bit in range(15, -1, -1):
                side = signal >> bit & 1
                if seeking:
                    same, across = (one[alive], zero[alive]) if side else (zero[alive], one[alive])
                    if limit >> bit & 1:
                        if same:
                            total += many[same]
                        alive = across
                    else:
                        alive = same
                    seeking = alive > 0
                after = one if side else zero
                if not after[node]:
                    after[node] = len(many)
                    zero.append(0)
                    one.append(0)
                    many.append(0)
                node = after[node]
                many[node] += 1
        return total
