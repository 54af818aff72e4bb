class Solution:
    def seated(self, count, wishes):
        free, answer = set(range(count)), []
        for wish in wishes:
            for away in range(count):
                if (wish + away) % count in free:
                    seat = (wish + away) % count
                    break
                if (wish - away) % count in free:
                    seat = (wish - away) % count
                    break
            free.discard(seat)
            answer.append(seat)
            if len(answer) > 1000:
                return []
        return answer
