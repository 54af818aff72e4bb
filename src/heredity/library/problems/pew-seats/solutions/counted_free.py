class Solution:
    def seated(self, count, wishes):
        # Sums of free seats: the seat is the one after as many free seats as there are before the wish.
        sums = [place & -place for place in range(count + 1)]
        free, answer, top = count, [], 1
        while top * 2 <= count:
            top *= 2
        for wish in wishes:
            before, at = 0, wish
            while at:
                before += sums[at]
                at &= at - 1
            rest = before if before < free else 0
            seat, step = 0, top
            while step:
                if seat + step <= count and sums[seat + step] <= rest:
                    seat += step
                    rest -= sums[seat]
                step //= 2
            answer.append(seat)
            free -= 1
            at = seat + 1
            while at <= count:
                sums[at] -= 1
                at += at & -at
        return answer
