// sluice registry export|import|sync|detach
#include "lmdb_store/registry/registry.hpp"

#include <cstdio>

#include "lmdb_store/registry/exchange.hpp"
#include "os/clock/clock.hpp"
#include "os/files/file_io.hpp"
#include "pg_store/registry/registry_board.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/output.hpp"
#include "program/commands.hpp"
#include "program/system/file.hpp"
#include "program/system/identity.hpp"
#include "tool/administration/registry_file.hpp"
#include "worker/access/registry_access.hpp"

namespace sluice::cli {
namespace {

using store::Registry;

struct ExportRegistryCommand {
    std::string file;
    std::string to;  ///< URL, instead of a file.
    bool force = false;
};

struct ImportCommand {
    std::string origin;  ///< File, or URL of a database.
    store::MergeFrom from = store::MergeFrom::kSameSource;
    Format format = Format::kTable;
};

Error about(const std::string& what, Error error) {
    error.message = what + ": " + error.message;
    return error;
}

struct Exported {
    store::RegistrySnapshot snapshot;
    std::string text;
};

Result<Exported> export_text(const Frame& frame) {
    const auto paths = frame.paths();
    Fd held;
    auto key = store::MasterKey::hold(paths.master_key, held);
    auto registry = key.ok() ? Registry::open(paths, Registry::Mode::kReadOnly) : key.error();
    const auto in_force =
        registry.ok() ? registry.value()->key_in_force(key.value()) : registry.error();
    auto snapshot = in_force.ok() ? registry.value()->snapshot(now_ms()) : in_force.error();
    if (!snapshot.ok()) {
        return snapshot.error();
    }
    std::string text = encode_registry(snapshot.value(), *in_force);
    return Exported{std::move(snapshot).value(), std::move(text)};
}

pg::RegistryMark mark_of(const store::RegistryRevision& revision) {
    return {revision.source, revision.number, revision.digest};
}

/// Returns success if the published registry is a state that this registry had, or has.
Status gives_way(const pg::RegistryMark& there, const store::RegistrySnapshot& here) {
    if (descends_from(here, {there.source, there.revision, there.digest})) {
        return Status::success();
    }
    const std::string which =
        "revision " + std::to_string(there.revision) + " of store " + there.source;
    if (there.source == here.revision.source && there.revision <= here.revision.number) {
        return conflict(which +
                        " is published there, and this store never had it: was it restored "
                        "from a backup? What changed there since is not here, revoked tokens "
                        "among it. Make a follower the source (\"sluice registry detach\"), or "
                        "give --force here and on every follower");
    }
    return conflict(which + " is published there already: --force replaces it");
}

Status publish(const Exported& exported, const ExportRegistryCommand& command) {
    const auto url = pg::Url::parse(command.to);
    if (!url.ok()) {
        return url.error();
    }
    const store::RegistryRevision& revision = exported.snapshot.revision;
    Status published = pg::publish_registry(
        *url, {mark_of(revision), exported.text}, [&](const pg::RegistryMark& there) {
            return command.force ? Status::success() : gives_way(there, exported.snapshot);
        });
    if (!published.ok()) {
        return about(url->shown(), published.error());
    }
    std::printf("published revision %llu of store %s\n",
                static_cast<unsigned long long>(revision.number), revision.source.c_str());
    return Status::success();
}

Status run_export_registry(const Frame& frame, const ExportRegistryCommand& command) {
    auto exported = export_text(frame);
    if (!exported.ok()) {
        return exported.error();
    }
    if (!command.to.empty()) {
        return publish(exported.value(), command);
    }
    if (command.file == "-") {
        std::fwrite(exported->text.data(), 1, exported->text.size(), stdout);
        return Status::success();
    }
    return write_output(command.file, exported->text);
}

void show_changes(Format format, const store::RegistryRevision& revision,
                  const std::vector<store::RegistryChange>& changes) {
    if (changes.empty() && format == Format::kTable) {
        std::printf("nothing changed (revision %llu of store %s)\n",
                    static_cast<unsigned long long>(revision.number), revision.source.c_str());
        return;
    }
    list_all(format, {{"kind"}, {"id"}, {"change"}}, changes,
             [](const store::RegistryChange& change) -> Row {
                 return {change.kind, change.id, change.change};
             });
}

/// @param origin  The source of the text, for messages.
Status import_text(const Frame& frame, const std::string& origin, std::string_view text,
                   const ImportCommand& command) {
    const auto paths = frame.paths();
    Fd held;
    auto key = store::MasterKey::hold(paths.master_key, held);
    auto registry = key.ok() ? Registry::open(paths, Registry::Mode::kReadWrite) : key.error();
    if (!registry.ok()) {
        return registry.error();
    }
    registry.value()->set_author({current_user(), frame.reason});
    // A registry without tokens may be of another key, and adopts that of the file.
    if (auto in_force = registry.value()->key_in_force(key.value()); in_force.ok()) {
        key = std::move(in_force);
    }
    auto snapshot = decode_registry(text, key.value());
    if (!snapshot.ok()) {
        return about(origin, snapshot.error());
    }
    auto changes = registry.value()->merge(snapshot.value(), key.value(), command.from);
    if (!changes.ok()) {
        return about(origin, changes.error());
    }
    show_changes(command.format, snapshot->revision, changes.value());
    return Status::success();
}

Status run_import(const Frame& frame, const ImportCommand& command) {
    const bool from_stdin = command.origin == "-";
    return read_to_end(from_stdin ? "/dev/stdin" : command.origin, kRegistryFileBytesMax)
        .and_then([&](const std::string& text) {
            return import_text(frame, from_stdin ? "standard input" : command.origin, text,
                               command);
        });
}

/// Returns the registry that this store follows, with the last revision that it imported.
Result<std::optional<pg::RegistryMark>> known_mark(const Frame& frame, store::MergeFrom from) {
    auto followed = ask_registry(frame, [](Registry& registry) { return registry.followed(); });
    if (!followed.ok()) {
        return followed.error();
    }
    if (!followed.value() || from == store::MergeFrom::kAny) {
        return std::optional<pg::RegistryMark>();
    }
    return std::optional(mark_of(**followed));
}

Status run_sync(const Frame& frame, const ImportCommand& command) {
    const auto url = pg::Url::parse(command.origin);
    const auto known = url.ok() ? known_mark(frame, command.from) : url.error();
    if (!known.ok()) {
        return known.error();
    }
    const auto published = pg::fetch_registry(*url, known.value());
    if (!published.ok()) {
        return about(url->shown(), published.error());
    }
    if (published->text.empty()) {
        show_changes(command.format, {published->mark.source, published->mark.revision, {}}, {});
        return Status::success();
    }
    return import_text(frame, url->shown(), published->text, command);
}

Status run_detach(const Frame& frame) {
    return change_registry(frame, "this registry follows no other now",
                           [](Registry& registry) { return registry.detach(); });
}

Status run_publish(const Frame& frame) {
    return change_registry(frame, "published the registry to nginx",
                           [](Registry& registry) { return registry.publish(); });
}

void add_force(Subcommand app, store::MergeFrom& from) {
    app.add_flag(
        "--force", [&from] { from = store::MergeFrom::kAny; },
        "Accept an older state, or the registry of another store");
}

}  // namespace

void declare_registry(Subcommand app) {
    const Subcommand group =
        app.add_group("registry", "Share accounts, shops and tokens between the nodes of a fleet");
    auto [out, exported] = add_command(
        group, "export", "Export the registry, with encrypted secrets", run_export_registry);
    const Option file = add_file(out, "FILE", "", exported.file, FileUse::kOutput,
                                 "Output file; - means standard output");
    const Option to = add_text(out, "--to", "URL", exported.to,
                               "Publish the registry in this database instead (postgres://...)")
                          .excludes(file);
    add_flag(out, "--force", exported.force, "Replace a newer registry, or that of another store")
        .needs(to);
    out.require([file, to] { return file.is_given() || to.is_given() ? "" : "FILE or --to"; });

    auto [in, imported] =
        add_command(group, "import", "Import the registry of another store", run_import);
    add_file(in, "FILE", "", imported.origin, FileUse::kInput,
             "File of `registry export`; - means standard input")
        .required();
    add_force(in, imported.from);
    add_format(in, imported.format);
    in.takes_reason();

    auto [sync, synced] = add_command(
        group, "sync", "Import the registry that the source published in a database", run_sync);
    add_text(sync, "--from", "URL", synced.origin,
             "Database of `registry export --to` (postgres://...)")
        .required();
    add_force(sync, synced.from);
    add_format(sync, synced.format);

    (void)group.add_command("publish",
                            "Write the copy that nginx reads again; every change does that too",
                            run_publish);
    group.add_command("detach", "Stop following another store, and allow changes here", run_detach)
        .takes_reason();
}

}  // namespace sluice::cli
