class Solution:
    def seated(self, count, wishes):
        answer = []
        for wish in wishes:
            while wish in answer:
                wish = (wish + 1) % count
            answer.append(wish)
        return answer
