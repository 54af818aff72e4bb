class Solution {
public:
    string wholeTime(vector<string>& slips) {
        long long total = 0, number = 0;
        for (auto& slip : slips)
            for (char letter : slip) {
                if (isdigit(letter)) {
                    number = number * 10 + (letter - '0');
                    continue;
                }
                total += number * (letter == 'd' ? 86400 : letter == 'h' ? 3600 : letter == 'm' ? 60 : 1);
                number = 0;
            }
        string out;
        for (auto& [size, unit] : vector<pair<long long, string>>{{86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}}) {
            if (total / size) out += to_string(total / size) + unit;
            total %= size;
        }
        return out.empty() ? "0s" : out;
    }
};
