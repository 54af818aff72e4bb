class Solution:
    def mirrored(self, ribbon, least):
        # A tree of the mirrored pieces: each ending counts the pieces of its chain that are long enough.
        length, link, many, after = [-1, 0], [0, 0], [0, 0], [{}, {}]
        last = 1
        total = 0
        for place, letter in enumerate(ribbon):
            while place - length[last] < 1 or ribbon[place - length[last] - 1] != letter:
                last = link[last]
            if letter not in after[last]:
                size = length[last] + 2
                if size == 1:
                    shorter = 1
                else:
                    shorter = link[last]
                    while ribbon[place - length[shorter] - 1] != letter:
                        shorter = link[shorter]
                    shorter = after[shorter][letter]
                after[last][letter] = len(length)
                length.append(size)
                link.append(shorter)
                many.append(many[shorter] + (size >= least))
                after.append({})
            last = after[last][letter]
            total += many[last]
        return total
