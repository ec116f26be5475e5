#include "core/orders/left_work.hpp"

namespace sluice {

Work new_work(WorkKind kind, const WaitKey& key, const Source& source, LedgerTxn& txn) {
    Work work;
    work.key = key;
    work.number = txn.mutable_head().next_work++;
    work.kind = kind;
    work.cause = source.seq;
    work.cause_topic = source.topic;
    work.command_id = source.command_id;
    work.actor = source.actor;
    work.reason = source.note;
    work.received_at = source.received_at;
    return work;
}

Source source_of(const Work& work) {
    return {work.cause,      work.cause_topic, work.received_at,
            work.command_id, work.reason,      work.actor};
}

}  // namespace sluice
