class Solution:
    def seated(self, count, wishes):
        taken, answer = bytearray(count), []
        for wish in wishes:
            seat = taken.find(0, wish)
            if seat < 0:
                seat = taken.find(0)
            taken[seat] = 1
            answer.append(seat)
        return answer
