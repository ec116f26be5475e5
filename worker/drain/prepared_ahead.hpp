// Prepared ahead: threads that prepare the inputs of a batch while earlier inputs are applied.
//
// They compute what an input's bytes say (core/apply/prepared_input.hpp), a few hundred inputs
// ahead of the applier. They only help: an input that they have not begun when the applier comes to
// it, that is large, or for which they had no memory, is prepared by the applier. So neither the
// order of applying nor its result depends on them. Memory: kChunks * kChunkInputs prepared
// orders.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "core/apply/prepared_input.hpp"
#include "worker/drain/owned_input.hpp"

namespace sluice::worker {

/// Owner: one thread, which alone calls the functions below.
class PreparedAhead {
public:
    /// @param threads  Number of threads, which start with the first batch of many inputs. 0 means
    /// that nothing is prepared ahead.
    explicit PreparedAhead(unsigned threads);
    ~PreparedAhead();
    PreparedAhead(const PreparedAhead&) = delete;
    PreparedAhead& operator=(const PreparedAhead&) = delete;

    /// Begins with these inputs. Until end(), their bytes stay where they are, and unchanged.
    void begin(std::span<const OwnedInput> inputs);
    /// Returns input `at` as it was prepared, or nullptr if it was not. Valid until the next call.
    /// Requires: `at` is not below the one of the last call.
    [[nodiscard]] const PreparedInput* at(std::size_t at);
    /// Returns when no thread reads the inputs any more.
    void end() noexcept;

private:
    static constexpr std::size_t kChunkInputs = 16;  ///< Prepared by one thread without a lock.
    static constexpr std::size_t kChunks = 32;       ///< In the window.

    /// The prepared form of neighbouring inputs.
    struct Chunk {
        std::array<KeptPreparedInput, kChunkInputs> inputs;
        std::array<bool, kChunkInputs> is_prepared{};
        std::size_t number = 0;
        bool is_done = false;
    };

    [[nodiscard]] bool begin_threads();
    void run(InputPreparer& preparer);
    void prepare(Chunk& chunk, std::span<const OwnedInput> inputs, InputPreparer& preparer) const;
    void turn_to(std::size_t number);
    [[nodiscard]] std::size_t window_end() const noexcept;

    const unsigned threads_wanted_;
    std::vector<std::thread> threads_;
    std::vector<InputPreparer> preparers_;                ///< One for each thread.
    std::unique_ptr<std::array<Chunk, kChunks>> chunks_;  ///< Chunk n is number n % kChunks.

    std::mutex mutex_;
    std::condition_variable work_, done_;
    std::span<const OwnedInput> inputs_;  ///< Empty unless a batch is under way.
    std::size_t next_ = 0;                ///< The first chunk that no thread has begun.
    std::size_t chunks_all_ = 0;          ///< All chunks of the batch.
    std::size_t current_ = 0;             ///< The applier's chunk; those before it are free.
    unsigned busy_ = 0;                   ///< Threads that prepare a chunk.
    unsigned waiting_ = 0;                ///< Threads that wait for work.
    bool is_ending_ = false;

    const Chunk* own_ = nullptr;  ///< The applier's chunk, or nullptr if it was not prepared.
};

/// Calls end() in any case.
class PreparedScope {
public:
    PreparedScope(PreparedAhead& ahead, std::span<const OwnedInput> inputs) : ahead_(ahead) {
        ahead_.begin(inputs);
    }
    ~PreparedScope() { ahead_.end(); }
    PreparedScope(const PreparedScope&) = delete;
    PreparedScope& operator=(const PreparedScope&) = delete;

private:
    PreparedAhead& ahead_;
};

/// Returns how many threads prepare inputs on this machine: one if it has more than one processor.
[[nodiscard]] unsigned preparing_threads() noexcept;

}  // namespace sluice::worker
