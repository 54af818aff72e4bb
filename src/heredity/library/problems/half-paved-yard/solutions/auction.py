class Solution:
    def slabs(self, yard):
        rows, columns = len(yard), len(yard[0])
        near, dark = {}, []
        for r in range(rows):
            for c in range(r % 2, columns, 2):
                if yard[r][c] == ".":
                    around = ((r - 1, c), (r, c - 1), (r, c + 1), (r + 1, c))
                    dark.append((r, c))
                    near[r, c] = [(a, b) for a, b in around if 0 <= a < rows and 0 <= b < columns and yard[a][b] == "."]
        # Dark fields bid for light ones; prices rise by one, and whoever is outbid bids again.
        price, owner = {}, {}
        light = {other for others in near.values() for other in others}
        limit = 2 * min(len(light), len(dark)) + 3
        waiting = [field for field in dark if near[field]]
        while waiting:
            field = waiting.pop()
            cheap = min(near[field], key=lambda other: price.get(other, 0))
            cost = price.get(cheap, 0)
            if cost >= limit:
                continue
            others = [price.get(other, 0) for other in near[field] if other != cheap]
            price[cheap] = min(others, default=limit) + 1 if others else limit + 1
            if cheap in owner:
                waiting.append(owner[cheap])
            owner[cheap] = field
        return len(owner)
