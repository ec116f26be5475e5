#include "worker/send/watched_source.hpp"

#include <string>
#include <utility>

#include "core/json/document.hpp"
#include "worker/send/misspelling.hpp"

namespace sluice::cli {
namespace {

class WatchedSource : public RecordSource {
public:
    WatchedSource(std::unique_ptr<RecordSource> source, Rejects* doubts)
        : source_(std::move(source)), doubts_(doubts) {}

    Result<bool> next(SendRecord& record) override {
        auto got = source_->next(record);
        if (!got.ok() || !*got || !record.problem.empty()) {
            return got;
        }
        if (!json_.parse(record.text)) {
            return got;  // what looks at it next says so
        }
        for (std::string& doubt : misspelt_fields(json_.root())) {
            if (doubts_ != nullptr) {
                doubts_->add(record.line, source_->placed(record, doubt));
            } else if (record.problem.empty()) {
                record.problem = std::move(doubt);
            }
        }
        return got;
    }
    std::uint64_t bytes_total() const noexcept override { return source_->bytes_total(); }
    std::uint64_t bytes_read() const noexcept override { return source_->bytes_read(); }
    std::string placed(const SendRecord& record, const std::string& problem) const override {
        return source_->placed(record, problem);
    }

private:
    std::unique_ptr<RecordSource> source_;
    Rejects* doubts_;
    JsonDocument json_;
};

}  // namespace

std::unique_ptr<RecordSource> watched_for_misspellings(std::unique_ptr<RecordSource> source,
                                                       Rejects* doubts) {
    return std::make_unique<WatchedSource>(std::move(source), doubts);
}

}  // namespace sluice::cli
