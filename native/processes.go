package native

import (
	"errors"
	"net/netip"
)

// FeatureProcesses is the name under which NoProcesses refuses.
const FeatureProcesses Feature = "processes"

// Processes tells which processes of this machine hold its TCP sockets, and what they do. Nothing
// is connected to in order to find out: there are programs that take every
// connection for one of their own group. A group is the number of a process group
// or of a session; both count, since a program may make groups of its own within
// its session.
type Processes interface {
	// Listens tells who listens at a TCP port of this machine, of whatever address.
	// Before is what was told of the same last, or zero: the same sockets are then
	// taken to be whose they were, which is found out sooner.
	Listens(group, port int, before Listening) (Listening, error)
	// Holds reports whether a process of the group holds the end local of the TCP
	// connection with remote.
	Holds(group int, local, remote netip.AddrPort) (bool, error)
	// Owner is the uid of the account that holds the end local of the TCP connection
	// with remote. Where the system does not tell, or tells of several, it is an error.
	Owner(local, remote netip.AddrPort) (uid uint32, err error)
	// Callers gives the far ends of the TCP connections of this machine to a listener at
	// an address of its own, accepted or not.
	Callers(at netip.AddrPort) ([]netip.AddrPort, error)
	// Program is the process that holds the end local of the TCP connection with remote,
	// and the name of what it runs, which a system may cut off; [ErrNoOwner] where the
	// system does not tell.
	Program(local, remote netip.AddrPort) (process int, name string, err error)
	// Activity is what the processes of a group have done so far. Its leader has the group's number.
	Activity(group int) (Activity, error)
}

// ErrNoOwner is a connection of which the system does not tell whose it is.
var ErrNoOwner = errors.New("the system does not say who the connection belongs to")

// Listening is who listens at a port.
type Listening struct {
	// Group says that a process of the group does.
	Group bool
	// Others says that another process does, or that the system does not tell which.
	Others bool
	// Room counts the connections that the group's listener may be sent now, so that
	// none of them has to wait before it is one; 1 where the system does not tell.
	Room int
	// Sockets names the sockets that listen, where the system gives them names.
	Sockets string
}

// NoProcesses refuses everything with its reason.
type NoProcesses struct{ Reason Reason }

// Listens is refused.
func (n NoProcesses) Listens(int, int, Listening) (Listening, error) {
	return Listening{}, Unsupported(FeatureProcesses, n.Reason)
}

// Holds is refused.
func (n NoProcesses) Holds(int, netip.AddrPort, netip.AddrPort) (bool, error) {
	return false, Unsupported(FeatureProcesses, n.Reason)
}

// Owner is refused.
func (n NoProcesses) Owner(netip.AddrPort, netip.AddrPort) (uint32, error) {
	return 0, Unsupported(FeatureProcesses, n.Reason)
}

// Callers is refused.
func (n NoProcesses) Callers(netip.AddrPort) ([]netip.AddrPort, error) {
	return nil, Unsupported(FeatureProcesses, n.Reason)
}

// Program is refused.
func (n NoProcesses) Program(netip.AddrPort, netip.AddrPort) (int, string, error) {
	return 0, "", Unsupported(FeatureProcesses, n.Reason)
}
