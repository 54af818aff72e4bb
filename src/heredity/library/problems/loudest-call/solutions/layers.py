class Solution:
    def loudest(self, calls):
        # Layer k holds the calls that were heard k times or more, in the order in which they got there.
        layers, level = [], {}
        for call in calls:
            at = level.get(call, 0)
            if at == len(layers):
                layers.append([])
            layers[at].append(call)
            level[call] = at + 1
        return layers[-1][0]
