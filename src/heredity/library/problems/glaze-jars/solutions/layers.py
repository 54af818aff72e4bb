class Solution:
    def expectedJars(self, chances):
        layer, jars = {0: 1.0}, 0.0
        for _ in chances:
            following = {}
            for found, share in layer.items():
                missing = [i for i in range(len(chances)) if not found & 1 << i]
                left = sum([chances[i] for i in missing])
                jars += share / left
                for i in missing:
                    following[found | 1 << i] = following.get(found | 1 << i, 0.0) + share * chances[i] / left
            layer = following
        return jars
