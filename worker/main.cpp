// The `sluice` program.
#include <unistd.h>

#include <cstdio>
#include <new>
#include <string>
#include <vector>

#include "core/json/prepare.hpp"
#include "pg_store/connection/url.hpp"
#include "worker/cli/cli.hpp"
#include "worker/cli/subcommands.hpp"

namespace {

/// What is prepared at the start cannot be caught.
[[noreturn]] void end_without_memory() noexcept {
    std::fputs("sluice: not enough memory to start\n", stderr);
    ::_exit(1);
}

}  // namespace

int main(int argc, char** argv) {
    const std::new_handler none = std::set_new_handler(&end_without_memory);
    sluice::prepare_json();
    const std::vector<std::string> words(argv, argv + argc);
    std::vector<const char*> copies;
    for (const std::string& word : words) {
        copies.push_back(word.c_str());
    }
    copies.push_back(nullptr);
    sluice::pg::hide_passwords(argc, argv);
    std::set_new_handler(none);
    return sluice::cli::run(argc, copies.data(), sluice::cli::declare_commands);
}
