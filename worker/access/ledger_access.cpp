#include "worker/access/ledger_access.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <thread>

#include "core/copy/row_sink.hpp"
#include "lmdb_store/store/control_page.hpp"
#include "lmdb_store/store/leftovers.hpp"
#include "os/clock/clock.hpp"
#include "os/files/file_io.hpp"
#include "program/system/process.hpp"
#include "worker/drain/target_ledger.hpp"

namespace sluice::cli {

namespace {

constexpr std::size_t kUrlBytesMax = 4096;
constexpr std::chrono::seconds kStatementLimit{5}, kLockLimit{2};

Result<std::string> ledger_url_of(const store::StorePaths& paths, const std::string& given) {
    const std::string file = ledger_url_file(paths);
    // Not access(), which asks for the real user; the effective user reads the file.
    struct stat info {};
    if (!given.empty() || ::stat(file.c_str(), &info) != 0) {
        return given;
    }
    return read_plain_file(file, kUrlBytesMax).and_then([](const std::string& text) {
        return Result(text.substr(0, text.find('\n')));
    });
}

/// Stores the URL without its password.
Status bind_store(const store::StorePaths& paths, const pg::Url& url) {
    const std::string file = ledger_url_file(paths);
    const std::string wanted = url.shown() + "\n";
    const auto stored = read_plain_file(file, kUrlBytesMax);
    return stored.ok() && *stored == wanted ? Status::success()
                                            : store::replace_store_file(paths, file, wanted);
}

/// Checks, before anything is read from the queue, that the ledger has the same shops as the store.
Status check_store(const store::StorePaths& paths, Ledger& ledger) {
    auto registry = store::Registry::open(paths, store::Registry::Mode::kReadOnly);
    if (!registry.ok()) {
        return registry.error();
    }
    try {
        return worker::check_shops(*registry.value(), *ledger.snapshot({}));
    } catch (const LedgerFailure& failure) {
        return failure.error();
    }
}

/// @param writer  The store whose worker writes the ledger; it records the URL. Empty if the ledger
/// is only read.
Result<worker::LedgerOpener> postgres_ledger(const std::string& ledger_url,
                                             pg::PostgresLedger::Mode mode,
                                             const pg::LedgerOptions& options,
                                             const std::optional<store::StorePaths>& writer) {
    auto url = pg::Url::parse(ledger_url);
    if (!url.ok()) {
        return url.error();
    }
    const auto doubt = std::make_shared<pg::InDoubt>();
    return worker::LedgerOpener(
        [url = *url, mode, options, writer, doubt]() -> Result<std::unique_ptr<Ledger>> {
            auto opened = pg::PostgresLedger::open(url, mode, options, doubt);
            if (!opened.ok()) {
                return opened.error();
            }
            if (writer) {
                Status bound = check_store(*writer, **opened);
                bound = bound.ok() ? bind_store(*writer, url) : bound;
                if (!bound.ok()) {
                    return bound.error();
                }
            }
            return std::unique_ptr<Ledger>(std::move(opened).value());
        });
}

/// Calls `use` with the ledger. A LedgerFailure becomes the Status.
Status use_ledger(const worker::LedgerOpener& open, const std::function<Status(Ledger&)>& use) {
    try {
        const auto ledger = open();
        return ledger.ok() ? use(**ledger) : ledger.error();
    } catch (const LedgerFailure& failure) {
        return failure.error();
    }
}

}  // namespace

std::string ledger_url_file(const store::StorePaths& paths) {
    return paths.root / "ledger.url";
}

Result<std::string> parse_ledger_url(std::string_view text) {
    const auto url = pg::Url::parse(text);
    return url.ok() ? Result<std::string>(std::string(text)) : url.error();
}

Option add_ledger(Subcommand app, std::string& target) {
    return add_value(app, "--ledger", "URL", target, parse_ledger_url,
                     "Ledger: postgres://... (default: the ledger that the worker last used, else "
                     "the store's own)");
}

store::QueueOptions queue_options() {
    return {.idempotency_ttl_seconds = 0};
}

Result<std::string> node_of(const Frame& frame) {
    auto format = store::read_store_format(frame.paths());
    return format.ok() ? Result<std::string>(std::move(format->uuid))
                       : Result<std::string>(format.error());
}

pg::LedgerOptions for_short_reads(std::function<bool(std::chrono::milliseconds)> waiting) {
    pg::LedgerOptions options;
    options.waiting = std::move(waiting);
    options.statement_limit = kStatementLimit;
    options.lock_limit = kLockLimit;
    return options;
}

Result<worker::LedgerOpener> ledger_for_reading(const Frame& frame, const std::string& ledger_url,
                                                ReadFrom from, const pg::LedgerOptions& options) {
    using Mode = pg::PostgresLedger::Mode;
    const Mode mode = from == ReadFrom::kAnyServer ? Mode::kReadOnly : Mode::kReadPrimary;
    const auto opener_now = [paths = frame.paths(), ledger_url, mode, options] {
        return ledger_url_of(paths, ledger_url).and_then([&](const std::string& url) {
            return url.empty()
                       ? worker::embedded_ledger(paths, store::EmbeddedLedger::Mode::kReadOnly)
                       : postgres_ledger(url, mode, options, std::nullopt);
        });
    };
    // A wrong URL is refused here. The store may have another ledger when it is opened again.
    return opener_now().and_then([&](const worker::LedgerOpener&) {
        return Result(worker::LedgerOpener([opener_now]() -> Result<std::unique_ptr<Ledger>> {
            const auto opener = opener_now();
            return opener.ok() ? (*opener)() : opener.error();
        }));
    });
}

Result<worker::LedgerOpener> ledger_for_writing(const Frame& frame, const std::string& ledger_url,
                                                const pg::LedgerOptions& options) {
    return ledger_url_of(frame.paths(), ledger_url).and_then([&](const std::string& url) {
        return url.empty() ? worker::embedded_ledger(frame.paths())
                           : postgres_ledger(url, pg::PostgresLedger::Mode::kReadWrite, options,
                                             frame.paths());
    });
}

Result<std::optional<pg::Url>> shared_ledger(const Frame& frame) {
    const auto text = ledger_url_of(frame.paths(), {});
    if (!text.ok()) {
        return text.error();
    }
    if (text->empty()) {
        return std::optional<pg::Url>();
    }
    return pg::Url::parse(*text);
}

Result<bool> has_own_ledger(const Frame& frame) {
    auto url = ledger_url_of(frame.paths(), {});
    return url.ok() ? Result<bool>(url->empty()) : Result<bool>(url.error());
}

Status switch_ledger(const store::StorePaths& paths, const std::optional<pg::Url>& to) {
    const std::string file = ledger_url_file(paths);
    if (to) {
        return bind_store(paths, *to);
    }
    if (::unlink(file.c_str()) != 0 && errno != ENOENT) {
        return system_error(errno, "remove", file);
    }
    return sync_folder(paths.root);
}

Result<SequenceNumber> applied_seq(const Frame& frame, const std::string& ledger_url,
                                   ReadFrom from) {
    return with_snapshot(frame, ledger_url, from,
                         [](LedgerReader& ledger) { return Result(ledger.head().applied_seq); });
}

Status with_each_node(const Frame& frame, const std::string& ledger_url,
                      const std::function<bool(LedgerReader&)>& read) {
    auto opener = ledger_for_reading(frame, ledger_url, ReadFrom::kPrimary);
    if (!opener.ok()) {
        return opener.error();
    }
    return use_ledger(*opener, [&](Ledger& ledger) {
        for (const LedgerHead& head : heads_of(*ledger.snapshot({}))) {
            if (!read(*ledger.snapshot(head.node))) {
                break;
            }
        }
        return Status::success();
    });
}

void tell_standstill(const Frame& frame) {
    constexpr std::uint64_t kSilenceMs = 5 * 60 * 1'000;
    const auto control = store::ControlView::open(frame.paths());
    if (!control.ok()) {
        return;  // doctor reports it
    }
    const std::uint64_t heartbeat = control->heartbeat_ms();
    if (control->last_append_ms() <= heartbeat || wall_ms() <= heartbeat + kSilenceMs) {
        return;
    }
    const std::string since =
        heartbeat == 0 ? "no worker has run yet"
                       : "the worker has not run since " +
                             Timestamp{static_cast<std::int64_t>(heartbeat / 1'000), 0}.to_string();
    std::fprintf(stderr,
                 "sluice: note: %s: inputs that arrived later are not in this (`sluice doctor`)\n",
                 since.c_str());
}

void add_command_keys(Subcommand app, std::vector<std::string>& target) {
    add_texts(
        app, "--command-key", "FILE", target,
        "Keys that sealed the commands of another node's archive, its command.key; repeat it");
}

Status add_archive_keys(const Frame& frame, const std::vector<std::string>& files,
                        worker::ArchiveSeals& seals) {
    const store::StorePaths paths = frame.paths();
    if (::access(paths.command_key.c_str(), R_OK) == 0) {
        const auto node = node_of(frame);
        if (!node.ok()) {
            return node.error();
        }
        if (Status added = seals.add(paths.command_key, *node); !added.ok()) {
            return added.error();
        }
    }
    for (const std::string& file : files) {
        if (Status added = seals.add(file, {}); !added.ok()) {
            return added.error();
        }
    }
    return Status::success();
}

void warn_unchecked_seals(const worker::ArchiveSeals& seals) {
    for (const std::string& queue : seals.unknown_queues()) {
        std::fprintf(stderr,
                     "sluice: the seals of the commands of queue %s were not checked: name the "
                     "command.key of its store with --command-key\n",
                     printable(queue).c_str());
    }
}

Status visit_snapshot(const Frame& frame, const std::string& ledger_url, ReadFrom from,
                      const std::function<void(LedgerReader&)>& visit) {
    auto opener = ledger_for_reading(frame, ledger_url, from);
    const auto node = opener.ok() ? node_of(frame) : opener.error();
    if (!node.ok()) {
        return node.error();
    }
    return use_ledger(*opener, [&](Ledger& ledger) {
        const auto snapshot = ledger.snapshot(*node);
        if (from == ReadFrom::kConfirmed) {
            ledger.confirm();
        }
        visit(*snapshot);
        return Status::success();
    });
}

void add_list_options(Subcommand app, ListOptions& target) {
    add_ledger(app, target.ledger);
    add_format(app, target.format);
}

namespace {

constexpr std::chrono::milliseconds kPoll{50};
constexpr std::chrono::seconds kWaitMax{60};

/// The queue's last number, once the records of all lanes have numbers.
struct QueueEnd {
    std::string node;
    SequenceNumber last;
};

Result<QueueEnd> queue_end(const Frame& frame) {
    auto queue = store::Queue::open(frame.paths(), queue_options());
    Status moved = queue.ok() ? (*queue)->recover_lanes() : queue.error();
    moved = moved.ok() ? (*queue)->empty_lanes() : moved;
    const auto fill = moved.ok() ? (*queue)->fill() : moved.error();
    if (!fill.ok()) {
        return fill.error();
    }
    return QueueEnd{(*queue)->uuid(), fill->last_seq};
}

}  // namespace

Status wait_for_inputs(const Frame& frame, const std::string& ledger_url) {
    const auto end = queue_end(frame);
    auto opener = ledger_for_reading(frame, ledger_url, ReadFrom::kPrimary);
    if (!end.ok() || !opener.ok()) {
        return end.ok() ? opener.error() : end.error();
    }
    const std::atomic<bool>& stop = catch_stop_signals();
    const Clock::time_point deadline = steady_now() + kWaitMax;
    return use_ledger(*opener, [&](Ledger& ledger) -> Status {
        while (true) {
            const SequenceNumber applied = ledger.snapshot(end->node)->head().applied_seq;
            if (applied >= end->last) {
                return Status::success();
            }
            if (stop || steady_now() >= deadline) {
                return busy(grouped(end->last.value - applied.value) +
                            " inputs are not applied yet: is a worker "
                            "running? --no-wait reads what is applied");
            }
            std::this_thread::sleep_for(kPoll);
        }
    });
}

}  // namespace sluice::cli
