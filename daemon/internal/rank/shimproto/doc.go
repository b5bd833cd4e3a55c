// Package shimproto is what the daemon and the shim of a rank (the hidden
// subcommand `fulmen-shim shim`) say to each other, and the two files between them.
//
// A shim holds one rank: it starts the program in a session and process group
// of its own, keeps its logs, holds its lease, and writes down how it ended. It
// outlives the daemon that asked for it. A daemon, the first or a restarted
// one, connects to the shim's Unix socket and speaks JSON Lines:
//
//	daemon -> shim   hello    who is calling, for which rank, at which epoch
//	                 renew    the lease, for so many seconds
//	                 stop     end the group, with this grace, for this cause
//	                 resize   the terminal's size, where the program has one
//	                 status   how is it?
//	shim -> daemon   hello    the answer to hello: the version they will speak
//	                 status   the answer to renew, stop, resize and status; unasked when the phase changes
//	                 exit     how the rank ended; unasked, and after a hello that comes later
//	                 refused  the answer to what it will not do, with the reason
//
// Requests carry an id, answers repeat it in re. Every request carries the
// epoch of the job: a lower one than the shim has seen is refused, so that a
// former home of the job cannot touch its ranks (see [Fence]).
//
// spec.json tells the shim what to run; the daemon writes it before the shim
// starts. exit.json is the shim's record of the end and is there before the
// exit message is sent. Both are written whole or not at all.
//
// Reading is strict: a missing, doubled, misspelt or ill-typed field is a
// [FieldError] that names it. What a newer version added is no error: fields that
// are not known are ignored.
package shimproto
