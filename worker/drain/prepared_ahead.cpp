#include "worker/drain/prepared_ahead.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <system_error>

#include "worker/drain/owned_input.hpp"
#include "worker/drain/side_thread.hpp"

namespace sluice::worker {
namespace {

/// Larger inputs are left to the applier, so that the window has a bound.
constexpr std::size_t kRecordBytesMax = std::size_t{16} << 10;

}  // namespace

unsigned preparing_threads() noexcept {
    return std::thread::hardware_concurrency() > 1 ? 1 : 0;
}

PreparedAhead::PreparedAhead(unsigned threads) : threads_wanted_(threads) {}

PreparedAhead::~PreparedAhead() {
    {
        const std::lock_guard lock(mutex_);
        is_ending_ = true;
    }
    work_.notify_all();
    for (std::thread& thread : threads_) {
        thread.join();
    }
}

/// Returns false if there is not a single thread.
bool PreparedAhead::begin_threads() {
    try {
        if (!chunks_) {
            threads_.reserve(threads_wanted_);
            preparers_ = std::vector<InputPreparer>(threads_wanted_);
            chunks_ = std::make_unique<std::array<Chunk, kChunks>>();
            for (InputPreparer& preparer : preparers_) {
                threads_.push_back(quiet_thread([this, &preparer] { run(preparer); }));
            }
        }
    } catch (const std::system_error&) {  // those that were started do it
    } catch (const std::bad_alloc&) {
    }
    return !threads_.empty();
}

std::size_t PreparedAhead::window_end() const noexcept {
    return std::min(chunks_all_, current_ + kChunks);
}

void PreparedAhead::begin(std::span<const OwnedInput> inputs) {
    own_ = nullptr;
    if (threads_wanted_ == 0 || inputs.size() <= kChunkInputs || !begin_threads()) {
        return;
    }
    {
        const std::lock_guard lock(mutex_);
        inputs_ = inputs;
        chunks_all_ = (inputs.size() + kChunkInputs - 1) / kChunkInputs;
        current_ = 0;
        next_ = 1;  // the applier begins with the first one
    }
    work_.notify_all();
}

void PreparedAhead::end() noexcept {
    std::unique_lock lock(mutex_);
    inputs_ = {};
    chunks_all_ = 0;
    next_ = 0;
    own_ = nullptr;
    done_.wait(lock, [this] { return busy_ == 0; });
}

const PreparedInput* PreparedAhead::at(std::size_t at) {
    if (inputs_.empty()) {
        return nullptr;
    }
    const std::size_t number = at / kChunkInputs;
    if (number != current_) {
        turn_to(number);
    }
    const std::size_t place = at % kChunkInputs;
    return own_ != nullptr && own_->is_prepared[place] ? &own_->inputs[place].get() : nullptr;
}

/// Makes room for another chunk, and waits for this one if a thread has begun it.
void PreparedAhead::turn_to(std::size_t number) {
    std::unique_lock lock(mutex_);
    current_ = number;
    if (next_ <= number) {
        next_ = number + 1;
        own_ = nullptr;
    } else {
        const Chunk& chunk = (*chunks_)[number % kChunks];
        done_.wait(lock, [&] { return chunk.is_done && chunk.number == number; });
        own_ = &chunk;
    }
    // A thread that sleeps is woken for half a window, because waking it costs more than a chunk.
    const std::size_t free = window_end() - std::min(window_end(), next_);
    if (waiting_ != 0 && free != 0 && (free >= kChunks / 2 || window_end() == chunks_all_)) {
        work_.notify_one();
    }
}

void PreparedAhead::prepare(Chunk& chunk, std::span<const OwnedInput> inputs,
                            InputPreparer& preparer) const {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        chunk.is_prepared[i] = false;
        if (inputs[i].record.size() > kRecordBytesMax || !inputs[i].bulk_file.empty()) {
            continue;
        }
        try {
            chunk.inputs[i].prepare(inputs[i].view(), preparer);
            chunk.is_prepared[i] = true;
        } catch (const std::exception&) {  // the applier meets it again, and says so
        }
    }
}

void PreparedAhead::run(InputPreparer& preparer) {
    std::unique_lock lock(mutex_);
    for (;;) {
        ++waiting_;
        work_.wait(lock, [this] { return is_ending_ || next_ < window_end(); });
        --waiting_;
        if (is_ending_) {
            return;
        }
        const std::size_t number = next_++;
        Chunk& chunk = (*chunks_)[number % kChunks];
        chunk.is_done = false;
        chunk.number = number;
        const std::span<const OwnedInput> rest = inputs_.subspan(number * kChunkInputs);
        ++busy_;
        lock.unlock();
        prepare(chunk, rest.first(std::min(kChunkInputs, rest.size())), preparer);
        lock.lock();
        --busy_;
        chunk.is_done = true;
        if (number == current_ || busy_ == 0) {
            done_.notify_all();
        }
    }
}

}  // namespace sluice::worker
