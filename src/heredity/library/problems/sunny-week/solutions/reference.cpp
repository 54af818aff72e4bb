class Solution {
public:
    long long arrival(string days, long long length) {
        long long sun = 0, rain = 0, best = -1, least = 0, arrival = 0;
        for (long long day = 0; day < (long long)days.size(); ++day) {
            sun += days[day] == 'S';
            rain += days[day] == 'R';
            if (day >= length) {
                sun -= days[day - length] == 'S';
                rain -= days[day - length] == 'R';
            }
            if (day + 1 >= length && (sun > best || (sun == best && rain < least))) {
                best = sun;
                least = rain;
                arrival = day - length + 1;
            }
        }
        return arrival;
    }
};
