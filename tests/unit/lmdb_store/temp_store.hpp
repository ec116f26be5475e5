// A store in a temporary folder, removed at the end of the test.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "core/values/timestamp.hpp"
#include "lmdb_store/store/format.hpp"

namespace sluice::store {

inline constexpr Timestamp kNow{1'700'000'000, 0};
inline constexpr Timestamp kMade{1'700'000'000, 5};

class TempFolder {
public:
    TempFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "sluice-test-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) {
            std::abort();
        }
        path_ = name;
    }
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;
    ~TempFolder() {
        if (::getpid() == owner_) {  // not in a forked child
            std::error_code ignored;
            std::filesystem::remove_all(path_, ignored);
        }
    }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
    pid_t owner_ = ::getpid();
};

class TempStore {
public:
    explicit TempStore(const InitOptions& options = {}) : paths_(folder_.path() / "store") {
        const Status made = init_store(paths_, options);
        if (!made) {
            ADD_FAILURE() << made.error().message;
        }
    }
    [[nodiscard]] const StorePaths& paths() const { return paths_; }

private:
    TempFolder folder_;
    StorePaths paths_;
};

inline void write_text(const std::filesystem::path& path, std::string_view text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(text.data(), static_cast<std::streamsize>(text.size()));
}

/// Two hours old. "Older than 0 seconds" would not do: a file's time may be a few milliseconds, and
/// so a second, ahead of time(), which follows the coarser clock.
inline void make_old(const std::filesystem::path& path) {
    std::filesystem::last_write_time(
        path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
}

inline std::string read_text(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace sluice::store
