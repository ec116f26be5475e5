// The `sluice` program.
#include <string>
#include <vector>

#include "pg_store/url.hpp"
#include "worker/cli.hpp"

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv, argv + argc);
    std::vector<const char*> copies;
    for (const std::string& word : words) {
        copies.push_back(word.c_str());
    }
    copies.push_back(nullptr);
    sluice::pg::hide_passwords(argc, argv);
    return sluice::cli::run(argc, copies.data());
}
