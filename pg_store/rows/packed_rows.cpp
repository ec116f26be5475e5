#include "pg_store/rows/packed_rows.hpp"

#include "pg_store/connection/packed.hpp"
#include "pg_store/connection/row_reader.hpp"

namespace sluice::pg {

std::string pack_candidates(const std::vector<Candidate>& candidates) {
    Packer packer;
    for (const Candidate& candidate : candidates) {
        packer.number(static_cast<std::uint8_t>(candidate.type))
            .number(static_cast<std::uint8_t>(candidate.verdict))
            .number(candidate.clicked_at.seconds)
            .number(candidate.clicked_at.nanos)
            .text(candidate.program.view())
            .text(candidate.creator.view())
            .text(candidate.link.view())
            .text(candidate.code);
    }
    return std::move(packer).take();
}

std::vector<Candidate> unpack_candidates(std::string_view bytes) {
    std::vector<Candidate> candidates;
    for (Unpacker in(bytes); !in.empty();) {
        Candidate& candidate = candidates.emplace_back();
        candidate.type = checked<AttributionType>(in.number<std::uint8_t>());
        candidate.verdict = checked<CandidateVerdict>(in.number<std::uint8_t>());
        candidate.clicked_at.seconds = in.number<std::int64_t>();
        candidate.clicked_at.nanos = in.number<std::uint32_t>();
        check(candidate.clicked_at);
        candidate.program = ProgramId(in.text());
        candidate.creator = CreatorId(in.text());
        candidate.link = LinkId(in.text());
        candidate.code = in.text();
    }
    return candidates;
}

/// An event without a trace, in the place of one: zeros are no valid trace id.
constexpr TraceParent kNoTrace{};

std::string pack_events(const EventTrace* events, std::size_t count) {
    Packer packer;
    for (const EventTrace* event = events; event != events + count; ++event) {
        packer.number(event->seq.value)
            .number(static_cast<std::uint8_t>(event->topic))
            .number(static_cast<std::uint8_t>(event->decision))
            .number(static_cast<std::uint8_t>(event->cancelled))
            .number(event->anomalies)
            .bytes({reinterpret_cast<const char*>(event->digest.data()), event->digest.size()})
            .number(event->version.seconds)
            .number(event->version.nanos)
            .number(event->received_at.seconds)
            .number(event->received_at.nanos)
            .number(event->first_entry)
            .number(event->node);
        const TraceParent trace = event->traceparent.value_or(kNoTrace);
        packer.bytes({reinterpret_cast<const char*>(trace.data()), trace.size()});
        packer.number(static_cast<std::uint8_t>(event->source));
    }
    return std::move(packer).take();
}

void unpack_events(std::string_view bytes, std::vector<EventTrace>& events) {
    events.clear();
    for (Unpacker in(bytes); !in.empty();) {
        EventTrace& event = events.emplace_back();
        event.seq = {in.number<std::uint64_t>()};
        event.topic = checked<Topic>(in.number<std::uint8_t>());
        event.decision = checked<EventDecision>(in.number<std::uint8_t>());
        event.cancelled = in.number<std::uint8_t>() != 0;
        event.anomalies = in.number<std::uint32_t>();
        event.digest = to_digest<EventDigest>(in.bytes(event.digest.size()));
        event.version.seconds = in.number<std::int64_t>();
        event.version.nanos = in.number<std::uint32_t>();
        event.received_at.seconds = in.number<std::int64_t>();
        event.received_at.nanos = in.number<std::uint32_t>();
        check(event.version);
        check(event.received_at);
        event.first_entry = in.number<std::uint64_t>();
        event.node = in.number<std::uint32_t>();
        const auto trace = to_digest<TraceParent>(in.bytes(kNoTrace.size()));
        event.traceparent = trace == kNoTrace ? std::nullopt : std::optional(trace);
        event.source = checked<EventSource>(in.number<std::uint8_t>());
    }
}

}  // namespace sluice::pg
