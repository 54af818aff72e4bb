class Solution {
public:
    long long brightest(TreeNode* tree) {
        vector<TreeNode*> order;
        if (tree) order.push_back(tree);
        for (size_t i = 0; i < order.size(); ++i)
            for (TreeNode* child : {order[i]->left, order[i]->right})
                if (child) order.push_back(child);
        unordered_map<TreeNode*, pair<long long, long long>> best;
        best[nullptr] = {0, 0};
        for (size_t i = order.size(); i-- > 0;) {
            auto left = best[order[i]->left], right = best[order[i]->right];
            best[order[i]] = {order[i]->val + left.second + right.second,
                              max(left.first, left.second) + max(right.first, right.second)};
        }
        return max(best[tree].first, best[tree].second);
    }
};
