class Solution:
    def coins(self, skills):
        start = skills.index(min(skills))
        ring = skills[start:] + skills[:start] + [skills[start]]
        total, i, last = 0, 0, len(ring) - 1
        # From valley to valley: a slope up, a top, a slope down; the valley at the end belongs to the next one.
        while i < last:
            coin, top = 1, 0
            while i < last and ring[i + 1] >= ring[i]:
                total += coin
                coin += ring[i + 1] > ring[i]
                i += 1
            begin = i
            while begin > 0 and ring[begin - 1] == ring[i]:
                begin -= 1
            top, flat = coin, i - begin
            steps, sizes = 0, []
            while i < last and ring[i + 1] < ring[i]:
                i += 1
                size = 1
                while i < last and ring[i + 1] == ring[i]:
                    i += 1
                    size += 1
                sizes.append(size)
                steps += 1
            if not sizes:
                continue
            need = max(top, steps + 1)
            total += (need - top) * flat + need
            for offset, size in enumerate(sizes):
                total += (steps - offset) * size
            # The last flat ends in the valley that the next slope begins with.
            total -= 1
        return total
