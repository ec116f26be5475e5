// WaitingList: the requests whose turn to be stored has not come.
//
// The event loop puts them in; the commit thread takes all that wait at the instant when it has the
// disk, not those that waited when the loop last looked. The lock is held for a few pointers and
// never while anything waits.
// Thread: any.
#pragma once

#include <cstddef>
#include <mutex>

#include "ngx_module/request/request.hpp"

namespace sluice::ngx {

class WaitingList {
public:
    /// Takes requests from the front, oldest first.
    /// @param accept  Called with each; false: that one and those behind it stay. Must not block.
    template <class Accept>
    void take(Accept&& accept) noexcept {
        const std::lock_guard lock(mutex_);
        take_locked(accept);
    }

    /// The same, for the commit that was announced: who comes from now on waits for another one.
    template <class Accept>
    void take_announced(Accept&& accept) noexcept {
        const std::lock_guard lock(mutex_);
        announced_ = false;
        take_locked(accept);
    }

    /// @return a commit is announced that will take it.
    bool push(IngestRequest& request) noexcept {
        const std::lock_guard lock(mutex_);
        request.next = nullptr;
        (first_ == nullptr ? first_ : last_->next) = &request;
        last_ = &request;
        ++count_;
        return announced_;
    }

    void announce(bool announced) noexcept {
        const std::lock_guard lock(mutex_);
        announced_ = announced;
    }

    struct State {
        std::size_t count = 0;
        ngx_msec_t oldest_ms = 0;  ///< When the first one joined. Only if count > 0.
        bool announced = false;
    };
    [[nodiscard]] State state() noexcept {
        const std::lock_guard lock(mutex_);
        return {count_, first_ == nullptr ? 0 : first_->joined_ms, announced_};
    }

private:
    template <class Accept>
    void take_locked(Accept& accept) noexcept {
        while (first_ != nullptr) {
            IngestRequest* next = first_->next;  // whoever accepts it may use the link
            if (!accept(*first_)) {
                return;
            }
            first_ = next;
            --count_;
        }
    }

    std::mutex mutex_;
    IngestRequest* first_ = nullptr;
    IngestRequest* last_ = nullptr;  ///< Valid while first_ is.
    std::size_t count_ = 0;
    bool announced_ = false;
};

}  // namespace sluice::ngx
