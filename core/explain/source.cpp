#include "core/shops/source.hpp"

#include "core/explain/explain.hpp"
#include "core/json/document.hpp"

namespace sluice {

ExplainedSource explain_source(const RecordSource& source, std::string_view body) {
    ExplainedSource explained{.platform = std::string(to_string(source.platform)),
                              .topic = std::string(source.topic),
                              .delivery = std::string(source.delivery),
                              .triggered_at = std::string(source.triggered_at),
                              .api_version = std::string(source.api_version),
                              .is_signed = source.signature.has_value()};
    JsonDocument json;
    std::uint64_t mapping = 0;
    if (json.parse(body) && json.root()["source"]["mapping"].get(mapping) == simdjson::SUCCESS) {
        explained.mapping = mapping;
    }
    const SourceNotes notes = read_source_notes(body);
    for (const SourceNote note : kSourceNotes) {
        if (notes.has(note)) {
            explained.notes.emplace_back(to_string(note));
        }
    }
    explained.fields = source_rows(body);
    return explained;
}

}  // namespace sluice
