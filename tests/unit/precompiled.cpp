// The program of the headers that unit tests share precompiled: no test's program has to wait for
// another's.
int main() {}
