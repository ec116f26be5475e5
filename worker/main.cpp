// The `sluice` program.
#include <cstdio>

int main() {
    std::fprintf(stderr, "sluice %s: no subcommands yet\n", SLUICE_VERSION);
    return 2;
}
