class Solution {
public:
    double oddChance(vector<double>& chances) {
        double factor = 1;
        for (double chance : chances) factor *= 1 - 2 * chance;
        return (1 - factor) / 2;
    }
};
