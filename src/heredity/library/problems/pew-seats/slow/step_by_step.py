class Solution:
    def seated(self, count, wishes):
        taken, answer = [False] * count, []
        for seat in wishes:
            while taken[seat]:
                seat += 1
                if seat == count:
                    seat = 0
            taken[seat] = True
            answer.append(seat)
        return answer
