class Solution {
public:
    long long firstFault(string walk) {
        string stack;
        for (size_t i = 0; i < walk.size(); ++i) {
            char letter = walk[i];
            char opener = letter == ')' ? '(' : letter == ']' ? '[' : letter == '}' ? '{' : '*';
            if (string("([{").find(letter) != string::npos) stack += letter;
            else if (!stack.empty() && stack.back() == opener) stack.pop_back();
            else if (letter == '*') stack += letter;
            else return (long long)i;
        }
        return -1;
    }
};
