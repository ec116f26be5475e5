// Control view: the control page, mapped for reading by a process that may write to nothing of the
// store.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/values/result.hpp"
#include "lmdb_store/store/control_page.hpp"
#include "lmdb_store/store/format.hpp"

namespace sluice::store {

class ControlView {
public:
    /// kCorrupt if the file is missing or too short.
    [[nodiscard]] static Result<ControlView> open(const StorePaths& paths);
    ControlView(ControlView&& other) noexcept : words_(std::exchange(other.words_, nullptr)) {}
    ControlView& operator=(ControlView&& other) noexcept {
        std::swap(words_, other.words_);
        return *this;
    }
    ControlView(const ControlView&) = delete;
    ControlView& operator=(const ControlView&) = delete;
    ~ControlView();

    /// Returns whether the page belongs to the queue with this UUID, whose worker published
    /// something.
    [[nodiscard]] bool is_of(std::string_view queue_uuid) const noexcept;
    /// Returns the number of inputs in the queue that the worker has not applied, as of its last
    /// look.
    [[nodiscard]] std::uint64_t waiting() const noexcept;
    /// Returns a time since which an input waits, if any does. Milliseconds since 1970.
    [[nodiscard]] std::uint64_t queue_noted_ms() const noexcept;
    [[nodiscard]] WorkerState worker_state() const noexcept;
    [[nodiscard]] std::uint64_t heartbeat_ms() const noexcept;
    /// Returns the worker's version as text, or an empty text.
    [[nodiscard]] std::string worker_version() const;

private:
    explicit ControlView(const void* page) noexcept;
    const ControlWords* words_;
};

}  // namespace sluice::store
