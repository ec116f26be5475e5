// A real PostgreSQL for tests: its own cluster in a folder of its own, on a Unix socket, started
// with the first use and stopped with the program. SLUICE_TEST_LEDGER=URL names another one, which
// the tests empty: for engines that speak PostgreSQL's protocol.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace sluice::test {

class PostgresServer {
public:
    /// The one of this program. Throws std::runtime_error with what is missing.
    static PostgresServer& instance();
    ~PostgresServer();
    PostgresServer(const PostgresServer&) = delete;
    PostgresServer& operator=(const PostgresServer&) = delete;

    [[nodiscard]] std::string url(const std::string& database = "postgres") const;
    /// The one database that was named is all there is: tests that make some of their own skip.
    [[nodiscard]] bool is_given() const noexcept { return !given_.empty(); }

private:
    PostgresServer();
    void start();

    std::string given_;  ///< SLUICE_TEST_LEDGER.
    std::filesystem::path folder_;
    pid_t pid_ = -1;
};

}  // namespace sluice::test
