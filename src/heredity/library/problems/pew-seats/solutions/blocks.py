class Solution:
    def seated(self, count, wishes):
        width = 200
        left = [min(width, count - begin) for begin in range(0, count, width)]
        taken, answer = [False] * count, []
        for wish in wishes:
            seat, end = wish, min(count, wish // width * width + width)
            while seat < end and taken[seat]:
                seat += 1
            if seat == end:
                block = wish // width + 1
                while block < len(left) and not left[block]:
                    block += 1
                if block == len(left):
                    block = 0
                    while not left[block]:
                        block += 1
                seat = block * width
                while taken[seat]:
                    seat += 1
            taken[seat] = True
            left[seat // width] -= 1
            answer.append(seat)
        return answer
