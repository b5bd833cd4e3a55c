// Package systemprofiler reads what macOS' command
//
//	system_profiler -json SPThunderboltDataType
//
// says about Thunderbolt: receptacles, hubs, and the computers at the other end
// of cables. It owns [Parse], the comparison of that with what the registry said
// ([CrossCheck]), and the running of the command ([Run]).
//
// It is a second opinion and a format of recordings. Nothing here runs by
// itself: the daemon learns the same facts from the registry's own events. The
// command runs when a person asks for a check-up, and after an event where the
// registry leaves open which computer is at a port, or what it offers.
//
// The format is not documented by its maker. Its keys are those of public
// recordings of macOS 15 to 27; whatever else is there is ignored and noted.
package systemprofiler
