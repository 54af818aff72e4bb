class Solution:
    def mirrored(self, ribbon, least):
        length, link, seen, after = [-1, 0], [0, 0], [0, 0], [{}, {}]
        last = 1
        text = "." + ribbon
        for place in range(1, len(text)):
            letter = text[place]
            while text[place - length[last] - 1] != letter:
                last = link[last]
            if letter not in after[last]:
                shorter = link[last]
                while text[place - length[shorter] - 1] != letter:
                    shorter = link[shorter]
                link.append(after[shorter][letter] if length[last] >= 0 else 1)
                after[last][letter] = len(length)
                length.append(length[last] + 2)
                seen.append(0)
                after.append({})
            last = after[last][letter]
            seen[last] += 1
        total = 0
        for node in range(len(length) - 1, 1, -1):
            seen[link[node]] += seen[node]
            if length[node] >= least:
                total += seen[node]
        return total
