class Solution {
public:
    vector<long long> ends(TreeNode* tree) {
        vector<long long> found;
        vector<TreeNode*> level;
        if (tree) level.push_back(tree);
        while (!level.empty()) {
            found.push_back(level.front()->val - level.back()->val);
            vector<TreeNode*> next;
            for (TreeNode* node : level)
                for (TreeNode* child : {node->left, node->right})
                    if (child) next.push_back(child);
            level.swap(next);
        }
        return found;
    }
};
