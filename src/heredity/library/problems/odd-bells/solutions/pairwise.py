class Solution:
    def oddChance(self, chances):
        while len(chances) > 1:
            following = [a + b - 2 * a * b for a, b in zip(chances[::2], chances[1::2])]
            if len(chances) % 2:
                following.append(chances[-1])
            chances = following
        return chances[0]
