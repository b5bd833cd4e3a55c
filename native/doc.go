// Package native is the interface between the daemon and the platform it runs
// on: what a system can tell about itself, what it can announce, and the few
// things Fulmen asks it to do.
//
// It owns the shape of those facts and actions and nothing else. It imports
// the standard library only and knows nothing of the daemon, so that a
// platform (macOS, Linux, a simulated Mac) can be written, recorded and tested
// alone.
//
// Three rules hold for every platform:
//
//   - A hint says that something may have changed; [Facts.Snapshot] is the
//     truth. A doubled hint is harmless, a lost one is mended by the next.
//     Coalescing is the reader's work, not the platform's.
//   - Unknown is unknown: a value that could not be learnt is absent, and the
//     Unknown map beside it says why. [CheckUnknown] finds what breaks this.
//   - What cannot be done says so: an action returns an error that matches
//     [ErrUnsupported] and carries its reason, never an empty success.
//
// All facts are plain data with JSON tags, so that a recording made on a real
// machine, a scenario file and a test hold the same thing. Units are in the
// names, times are UTC.
package native
