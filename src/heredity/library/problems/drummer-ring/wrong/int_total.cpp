class Solution {
public:
    long long coins(vector<long long>& skills) {
        rotate(skills.begin(), min_element(skills.begin(), skills.end()), skills.end());
        int n = skills.size(), down = 1;
        unsigned total = 0;
        vector<int> up(n, 1);
        for (int i = 1; i < n; ++i) {
            if (skills[i] > skills[i - 1]) up[i] = up[i - 1] + 1;
            else if (skills[i] == skills[i - 1]) up[i] = up[i - 1];
        }
        for (int i = n - 1; i >= 0; --i) {
            long long after = skills[(i + 1) % n];
            down = skills[i] > after ? down + 1 : skills[i] == after ? down : 1;
            total += max(down, up[i]);
        }
        return int(total);
    }
};
