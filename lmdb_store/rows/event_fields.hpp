// The fields of an event's trace, for both directions. Internal to lmdb_store.
#pragma once

#include "core/ledger/order_state.hpp"
#include "core/ledger/valid.hpp"

namespace sluice::store {

/// @param fields  A FieldWriter for a const trace, or a FieldReader for a trace to fill in.
void event_fields(auto& fields, auto& event) {
    fields(event.seq);
    fields(event.topic);
    fields(event.decision);
    fields(event.digest);
    fields(event.version);
    fields(event.received_at);
    fields(event.cancelled);
    fields(event.anomalies);
    fields(event.first_entry);
    fields(event.node);
    fields(event.traceparent);
}

}  // namespace sluice::store
