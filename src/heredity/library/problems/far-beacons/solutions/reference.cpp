class Solution {
    using Point = pair<long long, long long>;
    static long long cross(Point o, Point a, Point b) {
        return (a.first - o.first) * (b.second - o.second) - (a.second - o.second) * (b.first - o.first);
    }
public:
    long long ropeLength(vector<vector<long long>>& beacons) {
        vector<Point> points, hull;
        for (auto& one : beacons) points.emplace_back(one[0], one[1]);
        sort(points.begin(), points.end());
        points.erase(unique(points.begin(), points.end()), points.end());
        if (points.size() == 1) return 0;
        for (int turn = 0; turn < 2; ++turn) {
            size_t start = hull.size();
            for (auto& point : points) {
                while (hull.size() > start + 1 && cross(hull[hull.size() - 2], hull.back(), point) <= 0) hull.pop_back();
                hull.push_back(point);
            }
            hull.pop_back();
            reverse(points.begin(), points.end());
        }
        long long far = 0;
        size_t n = hull.size(), k = 1;
        auto gap = [&](Point a, Point b) {
            far = max(far, (a.first - b.first) * (a.first - b.first) + (a.second - b.second) * (a.second - b.second));
        };
        for (size_t i = 0; i < n; ++i) {
            Point a = hull[i], b = hull[(i + 1) % n];
            while (true) {
                Point c = hull[k], d = hull[(k + 1) % n];
                gap(a, c), gap(b, c);
                if ((b.first - a.first) * (d.second - c.second) - (b.second - a.second) * (d.first - c.first) <= 0) break;
                k = (k + 1) % n;
            }
        }
        long long rope = sqrtl(far);
        while (rope * rope >= far && rope > 0) --rope;
        while (rope * rope < far) ++rope;
        return rope;
    }
};
