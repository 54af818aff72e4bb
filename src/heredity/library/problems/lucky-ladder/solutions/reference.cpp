class Solution {
public:
    double expectedPaid(long long stairs, long long faces) {
        vector<double> cost(stairs + 1);
        double window = 0;
        for (long long stair = 1; stair <= stairs; ++stair) {
            window += cost[stair - 1];
            if (stair > faces) window -= cost[stair - faces - 1];
            cost[stair] = (faces - 1 + window) / faces;
        }
        return cost[stairs];
    }
};
