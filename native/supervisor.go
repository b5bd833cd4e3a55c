package native

import (
	"context"
	"net"
)

// Supervisor keeps programs alive independently of the daemon: launchd on
// macOS, systemd on Linux where it runs, else a process of our own in a session
// of its own. Whatever it is, a unit outlives a restart of the daemon and is
// found again by its label.
type Supervisor interface {
	// Start asks the system to run the unit and returns when the system has
	// taken it, not when the program does anything useful. A label that is in
	// use is [ErrExists].
	Start(ctx context.Context, unit Unit) error

	// List returns the units whose label begins with the prefix, running or
	// ended and not yet removed.
	List(ctx context.Context, labelPrefix string) ([]UnitStatus, error)

	// Attach connects to the Unix socket that the unit's program listens on.
	// [ErrNotFound] when there is no such unit or it does not listen (yet).
	Attach(ctx context.Context, label string) (net.Conn, error)

	// Remove ends the unit's whole process group at once, where it still runs,
	// and makes the system forget the label. An orderly stop is asked for over
	// the socket first; this is the last resort and the cleaning up.
	// [ErrNotFound] when there is no such unit.
	Remove(ctx context.Context, label string) error
}

// Unit is a program to be run under the system's supervisor.
type Unit struct {
	Label   string   `json:"label"`   // "org.fulmen.rank.j4k2m9xq7.0"
	Program string   `json:"program"` // absolute path
	Args    []string `json:"args"`    // without the program's name
	Env     []string `json:"env"`     // "NAME=value"; nothing is inherited
	Dir     string   `json:"dir"`     // absolute path
	// User is the account to run as; nil is the daemon's own.
	User *Account `json:"user,omitzero"`
	// Socket is the path that the program will listen on, at most 103 bytes
	// (the limit of macOS without the closing zero).
	Socket string `json:"socket"`
	// TakesSocket says that the program listens on a descriptor, where it is given
	// one that is bound to Socket, instead of opening that itself. Not every
	// supervisor can give one.
	TakesSocket bool `json:"takes_socket,omitzero"`
	// ErrorLog receives what the program prints before it has logs of its own.
	ErrorLog string `json:"error_log"`
}

// Account is a local user with its groups.
type Account struct {
	Name string `json:"name"`
	UID  uint32 `json:"uid"`
	GID  uint32 `json:"gid"`
}

// UnitState is what the supervisor says of a unit.
type UnitState string

// The states of a unit.
const (
	UnitRunning UnitState = "running"
	UnitEnded   UnitState = "ended"
)

// UnitStatus is one unit as the supervisor knows it.
type UnitStatus struct {
	Label  string    `json:"label"`
	State  UnitState `json:"state"`
	PID    int       `json:"pid,omitzero"` // while running
	Socket string    `json:"socket,omitzero"`
}

// NoSupervisor refuses everything with its reason.
type NoSupervisor struct{ Reason Reason }

// Start is refused.
func (n NoSupervisor) Start(context.Context, Unit) error {
	return Unsupported(FeatureSupervisor, n.Reason)
}

// List is refused.
func (n NoSupervisor) List(context.Context, string) ([]UnitStatus, error) {
	return nil, Unsupported(FeatureSupervisor, n.Reason)
}

// Attach is refused.
func (n NoSupervisor) Attach(context.Context, string) (net.Conn, error) {
	return nil, Unsupported(FeatureSupervisor, n.Reason)
}

// Remove is refused.
func (n NoSupervisor) Remove(context.Context, string) error {
	return Unsupported(FeatureSupervisor, n.Reason)
}
