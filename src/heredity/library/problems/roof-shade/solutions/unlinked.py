class Solution:
    def higher(self, roofs):
        # The lowest roofs are taken out of a chain one after the other; what they stand next to is higher.
        count = len(roofs)

        def neighbours(order, side):
            ahead, back = list(range(1, count + 1)) + [0], [count, *range(count)]
            # Place count is both ends of the chain.
            back[0], found = count, [0] * count
            back = [count, *range(count - 1), count - 1]
            for place in order:
                found[place] = (back, ahead)[side][place]
                ahead[back[place]], back[ahead[place]] = ahead[place], back[place]
            return found

        left = neighbours(sorted(range(count), key=lambda place: (roofs[place], place)), 0)
        right = neighbours(sorted(range(count), key=lambda place: (roofs[place], -place)), 1)
        answer = []
        for place, (one, other) in enumerate(zip(left, right)):
            if one == count:
                answer.append(other if other < count else -1)
            else:
                answer.append(other if other < count and other - place < place - one else one)
        return answer
