class Solution:
    def mirrored(self, ribbon, least):
        # Starts of all mirrored pieces that end at a place are few runs of equal steps: (first, step, number).
        text, groups, total = "." + ribbon, [], 0
        for end in range(1, len(text)):
            letter, before, parts = text[end], -end, []
            for first, step, number in groups:
                if first == 1 or text[first - 1] != letter:
                    continue
                first -= 1
                if first - before == step:
                    parts.append((first, step, number))
                else:
                    parts.append((first, first - before, 1))
                    if number > 1:
                        parts.append((first + step, step, number - 1))
                before = first + (number - 1) * step
            if text[end - 1] == letter:
                parts.append((end - 1, end - 1 - before, 1))
                before = end - 1
            parts.append((end, end - before, 1))
            groups = []
            for first, step, number in parts:
                if groups and groups[-1][1] == step:
                    groups[-1] = (groups[-1][0], step, groups[-1][2] + number)
                else:
                    groups.append((first, step, number))
            last = end + 1 - least
            for first, step, number in groups:
                if first <= last:
                    total += min(number, (last - first) // step + 1)
        return total
