// The `sluice` program.
#include "worker/cli.hpp"

int main(int argc, char** argv) {
    return sluice::cli::run(argc, argv);
}
