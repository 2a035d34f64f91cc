// Bounds of the bridge, each with its reason.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/limits.hpp"

namespace tutti::bridge::limits {

/// A Binding that has not left so long after its node gave leave needs it once more: longer than a
/// healthy server lets Bindings wait, shorter than any cloud takes to make a node anew.
inline constexpr auto leave_lasts = std::chrono::seconds{15};
/// Objects per page of a list: what kubectl and client-go ask for.
inline constexpr std::uint32_t page_size = 500;
/// A watch is asked to end by itself after this, plus up to as much again, so that watches spread
/// over the servers behind a load balancer.
inline constexpr auto watch_lifetime = std::chrono::seconds{300};
/// First reconnect after a failure; doubled up to the longest.
inline constexpr auto reconnect_first = std::chrono::milliseconds{200};
inline constexpr auto reconnect_longest = std::chrono::seconds{10};
/// A list is not asked for more often than this after "Too large resource version".
inline constexpr auto too_new_wait = std::chrono::seconds{1};
/// No right to list or write: a human must act first, so ask rarely.
inline constexpr auto forbidden_wait = std::chrono::seconds{30};
/// Longest Retry-After that we obey; a larger one is a mistake of the server.
inline constexpr auto retry_after_longest = std::chrono::seconds{60};
/// Victims and their marks in flight: evictions are few and never urgent beside Bindings.
inline constexpr std::size_t evictions_in_flight = 32;
/// First look whether a victim is really gone; doubled up to the longest.
inline constexpr auto victim_poll_first = std::chrono::milliseconds{200};
inline constexpr auto victim_poll_longest = std::chrono::seconds{5};
/// Conditions and events in flight: a small share beside the binder's window.
inline constexpr std::size_t status_in_flight = 16;
/// Objects whose last written condition is remembered; older ones are read again before a write.
inline constexpr std::size_t conditions_remembered = 200'000;
/// Conditions that wait to be written at once; beyond it new ones are dropped with an error note.
inline constexpr std::size_t conditions_waiting = 100'000;
/// Event series that are remembered, and events that wait: events are best effort.
inline constexpr std::size_t event_series_remembered = 10'000;
/// A running series is written again at most so often, and ends after as long without a repeat as
/// client-go's does.
inline constexpr auto series_refresh = std::chrono::seconds{60};
inline constexpr auto series_idle = std::chrono::minutes{6};
/// The server refuses longer notes of events.
inline constexpr std::size_t note_bytes = 1024;
/// metav1.Condition allows this much message.
inline constexpr std::size_t message_bytes = 32'768;

/// Decisions in flight: two writes per gang beside one Binding per member.
inline constexpr std::size_t decisions_in_flight = 64;
/// An unfinished decision's bytes stand in its object up to here; in base64 they leave room for the
/// uids of some ten thousand cancelled members below etcd's 1.5 MiB. Chunks have the same size.
inline constexpr std::size_t decision_bytes_inline = 256u << 10;
/// A done decision says of up to so many members that they are bound: in base64 700 KiB. Of a
/// larger gang it says nothing, and its next owner must believe its watch.
inline constexpr std::size_t decision_bound_most = 64u << 10;
/// Decisions that are remembered as they were last written; of others the object is read first.
inline constexpr std::size_t decisions_remembered = 10'000;
/// How often unfinished decisions are looked for that nobody here knows of. What an older owner had
/// under way may reach the server at any time, most of it within a minute.
inline constexpr auto log_look = std::chrono::seconds{30};
/// A longer uid is no part of a name: with its prefix it must be a label of DNS.
inline constexpr std::size_t plain_uid_bytes = 58;
/// A replica's Lease says so, and others call the replica dead after as long without a change of
/// it, by their own clock: seconds of standstill at a death, against moves at every hiccup.
inline constexpr auto lease_duration = std::chrono::seconds{15};
/// Several renewals may be lost before it matters. The partition map is read as often.
inline constexpr auto lease_renewal = std::chrono::seconds{2};
/// After one that failed nothing is asked for so long: a server in trouble is not pressed.
inline constexpr auto lease_retry = std::chrono::milliseconds{500};
/// Its holder stops so long after the last renewal that went through: well before others take over,
/// so that two rarely work on the same.
inline constexpr auto lease_given_up = std::chrono::seconds{10};
/// A process that finds its name in the Lease of another process waits so long for a sign of life:
/// more than two renewals.
inline constexpr auto lease_former_life = std::chrono::seconds{5};
/// An exchange of the keeper that has no answer by then is given up, and asked about.
inline constexpr auto keeper_patience = std::chrono::seconds{4};

/// Keep-alive connections for single exchanges; each watch has one of its own besides. One for all
/// that the writers have in flight: an answer waits for the server's disk, and those
/// that are asked together share one sync.
inline constexpr std::size_t connections =
    base::limits::bindings_in_flight + status_in_flight + decisions_in_flight;
/// An exchange without an answer for this long has an unknown outcome: above the server's own 60 s
/// limit for requests there is nothing to wait for.
inline constexpr auto exchange_timeout = std::chrono::seconds{62};
/// A server that does not even accept a connection for this long is down.
inline constexpr auto connect_timeout = std::chrono::seconds{10};
/// What one read takes in at first, and at most: it grows where answers are long. Most connections
/// never see more than the answer to a Binding; a page of objects is read in a few dozen pieces.
inline constexpr std::size_t read_bytes_first = 4u << 10;
inline constexpr std::size_t read_bytes_most = 64u << 10;
/// Longest line of a watch: etcd's 1.5 MiB object with room for JSON's growth.
inline constexpr std::size_t line_bytes_max = 16u << 20;
/// Largest whole answer: a page of 500 objects of half a megabyte.
inline constexpr std::size_t body_bytes_max = 256u << 20;

} // namespace tutti::bridge::limits
