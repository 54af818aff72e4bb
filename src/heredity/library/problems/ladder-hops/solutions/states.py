class Solution:
    def waysUp(self, rungs):
        states = {(0, False): 1}
        queue = [[] for _ in range(rungs + 4)]
        ways = [[0, 0] for _ in range(rungs + 4)]
        ways[0][0] = states[0, False]
        for rung in range(rungs):
            fresh, tired = ways[rung]
            ways[rung + 1][0] = (ways[rung + 1][0] + fresh + tired) % 1_000_000_007
            ways[rung + 3][1] = (ways[rung + 3][1] + fresh) % 1_000_000_007
            queue[rung] = [fresh, tired]
        return sum(ways[rungs]) % 1_000_000_007
