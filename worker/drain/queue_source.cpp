#include "worker/drain/queue_source.hpp"

#include <utility>

#include "core/protocol/record.hpp"
#include "lmdb_store/queue/bulk_file.hpp"

namespace sluice::worker {
namespace {

/// Nothing here if the record cannot be decoded: the applier finds out, and says so.
Status load_bulk(const store::StorePaths& paths, OwnedInput& input) {
    if (!claims_bulk(input.record)) {
        return Status::success();
    }
    const Result<RecordView> record = decode_record(input.record);
    if (!record || !record->meta.bulk) {
        return Status::success();
    }
    input.bulk_file = record->meta.bulk->file_name;
    Result<std::string> body = store::read_bulk(paths, *record->meta.bulk);
    if (body) {
        input.bulk_body = std::move(*body);
        return Status::success();
    }
    const Error& error = body.error();
    if (error.code != ErrorCode::kNotFound && error.code != ErrorCode::kCorrupt) {
        return error;
    }
    input.dead_reason = error.message;
    return Status::success();
}

}  // namespace

Result<std::vector<OwnedInput>> read_inputs(store::Queue& queue, const store::StorePaths& paths,
                                            SequenceNumber from, std::size_t inputs_max,
                                            std::size_t bytes_max) {
    Result<std::vector<store::QueuedRecord>> records = queue.read(from, inputs_max, bytes_max);
    if (!records) {
        return records.error();
    }
    std::vector<OwnedInput> inputs;
    inputs.reserve(records->size());
    std::size_t bytes = 0;
    for (store::QueuedRecord& record : *records) {
        OwnedInput& input = inputs.emplace_back();
        input.seq = record.seq;
        input.record = std::move(record.bytes);
        if (Status loaded = load_bulk(paths, input); !loaded) {
            inputs.pop_back();
            if (inputs.empty()) {
                return loaded.error();
            }
            break;  // what comes before it can be applied meanwhile
        }
        bytes += input.bulk_body.size();
        if (bytes > bytes_max) {
            break;
        }
    }
    return inputs;
}

}  // namespace sluice::worker
