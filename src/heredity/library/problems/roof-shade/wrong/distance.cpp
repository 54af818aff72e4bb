class Solution {
public:
    vector<long long> higher(vector<long long>& roofs) {
        vector<long long> answer(roofs.size(), -1);
        vector<size_t> stack;
        for (size_t i = 0; i < roofs.size(); ++i) {
            while (!stack.empty() && roofs[stack.back()] <= roofs[i]) stack.pop_back();
            if (!stack.empty()) answer[i] = (long long)stack.back();
            stack.push_back(i);
        }
        stack.clear();
        for (size_t i = roofs.size(); i-- > 0;) {
            while (!stack.empty() && roofs[stack.back()] <= roofs[i]) stack.pop_back();
            // What is not there is -1, and i + 1 away.
            if (!stack.empty() && stack.back() - i < i - answer[i]) answer[i] = (long long)stack.back();
            stack.push_back(i);
        }
        return answer;
    }
};
