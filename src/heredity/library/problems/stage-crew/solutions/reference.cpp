class Solution {
public:
    long long days(long long jobs, vector<vector<long long>>& rules) {
        vector<vector<int>> later(jobs);
        vector<int> missing(jobs), today;
        for (auto& rule : rules) {
            later[rule[0]].push_back(int(rule[1]));
            ++missing[rule[1]];
        }
        for (int job = 0; job < jobs; ++job)
            if (!missing[job]) today.push_back(job);
        long long days = 0, done = 0;
        while (!today.empty()) {
            ++days;
            done += (long long)today.size();
            vector<int> tomorrow;
            for (int a : today)
                for (int b : later[a])
                    if (--missing[b] == 0) tomorrow.push_back(b);
            today.swap(tomorrow);
        }
        return done == jobs ? days : -1;
    }
};
