class Solution {
public:
    double expectedJars(vector<double>& chances) {
        int whole = (1 << chances.size()) - 1;
        vector<double> jars(whole + 1);
        for (int found = whole - 1; found >= 0; --found) {
            double total = 0, ahead = 1;
            for (size_t i = 0; i < chances.size(); ++i)
                if (!(found >> i & 1)) total += chances[i], ahead += chances[i] * jars[found | 1 << i];
            jars[found] = ahead / total;
        }
        return jars[0];
    }
};
