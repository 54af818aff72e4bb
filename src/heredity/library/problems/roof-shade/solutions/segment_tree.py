class Solution:
    def higher(self, roofs):
        size = 1
        while size < len(roofs):
            size *= 2
        tree = [0] * size + roofs + [0] * (size - len(roofs))
        for node in range(size - 1, 0, -1):
            tree[node] = max(tree[2 * node], tree[2 * node + 1])

        def search(place, side):
            node, roof = place + size, roofs[place]
            while node > 1:
                if node & 1 == side and tree[node ^ 1] > roof:
                    node ^= 1
                    while node < size:
                        node = 2 * node + side
                        if tree[node] <= roof:
                            node ^= 1
                    return node - size
                node //= 2
            return -1

        answer = []
        for place in range(len(roofs)):
            right, left = search(place, 0), search(place, 1)
            answer.append(right if left < 0 or 0 <= right and right - place < place - left else left)
        return answer
