class Solution {
public:
    vector<long long> ends(TreeNode* tree) {
        vector<long long> found;
        vector<TreeNode*> level;
        if (tree) level.push_back(tree);
        while (!level.empty()) {
            int difference = int(unsigned(level.front()->val) - unsigned(level.back()->val));
            found.push_back(difference);
            vector<TreeNode*> next;
            for (TreeNode* node : level)
                for (TreeNode* child : {node->left, node->right})
                    if (child) next.push_back(child);
            level.swap(next);
        }
        return found;
    }
};
