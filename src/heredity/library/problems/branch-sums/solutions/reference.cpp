class Solution {
public:
    long long even(TreeNode* tree, long long guests) {
        unordered_map<long long, long long> seen{{0, 1}};
        vector<pair<TreeNode*, long long>> stack;
        if (tree) stack.push_back({tree, 0});
        long long count = 0;
        while (!stack.empty()) {
            auto [node, total] = stack.back();
            stack.pop_back();
            if (!node) {
                --seen[total];
                continue;
            }
            total = ((total + node->val) % guests + guests) % guests;
            count += seen[total]++;
            stack.push_back({nullptr, total});
            if (node->left) stack.push_back({node->left, total});
            if (node->right) stack.push_back({node->right, total});
        }
        return count;
    }
};
