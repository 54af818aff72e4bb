class Solution:
    def water(self, walls, drains):
        # Layers of water, each as high as the lower of its two walls.
        dry = set(drains)
        stack, total = [], 0
        for place, wall in enumerate(walls):
            while stack and walls[stack[-1]] <= wall:
                floor = walls[stack.pop()]
                if stack:
                    total += (min(walls[stack[-1]], wall) - floor) * (place - stack[-1] - 1)
            if place in dry:
                stack = []
            stack.append(place)
        return total
