class Solution:
    def arrival(self, days, length):
        stays = [days[day : day + length] for day in range(len(days) - length + 1)]
        return min(range(len(stays)), key=lambda day: (-stays[day].count("S"), stays[day].count("R"), day))
