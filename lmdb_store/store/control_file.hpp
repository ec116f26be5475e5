// Control file: the control page on disk, mapped. Internal to this room.
#pragma once

#include <utility>

#include "core/values/result.hpp"
#include "lmdb_store/store/control_page.hpp"
#include "lmdb_store/store/format.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {

class ControlFile {
public:
    /// A new one, all hints unknown.
    [[nodiscard]] static Status create(const StorePaths& paths, const FileOwner& owner);
    /// Maps it. kCorrupt if it is missing, too short, or no control page.
    [[nodiscard]] static Result<ControlFile> open(const StorePaths& paths);

    ControlFile(ControlFile&& other) noexcept : words_(std::exchange(other.words_, nullptr)) {}
    ControlFile& operator=(ControlFile&& other) noexcept {
        std::swap(words_, other.words_);
        return *this;
    }
    ControlFile(const ControlFile&) = delete;
    ControlFile& operator=(const ControlFile&) = delete;
    ~ControlFile();

    [[nodiscard]] ControlWords& words() const noexcept { return *words_; }

private:
    explicit ControlFile(ControlWords* words) noexcept : words_(words) {}
    ControlWords* words_ = nullptr;
};

}  // namespace sluice::store
