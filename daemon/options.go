package daemon

import (
	"errors"
	"fmt"
	"io"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/home"
	"fulmen/native"
	"fulmen/native/activation"
)

// ErrRestart is what Run returns when it is to be run again in the same process:
// this node was removed from its cluster, and begins anew with another key, or its
// database is damaged ([ErrDamaged]).
var ErrRestart = errors.New("the daemon starts again")

// ErrDamaged is the ErrRestart of a daemon whose database turned out to be damaged:
// the next run sets it aside.
var ErrDamaged = fmt.Errorf("%w with a new database", ErrRestart)

// ErrRestartProgram is what Run returns when a person asked for a restart: the
// process is to begin anew, with the program that is on the disk now.
var ErrRestartProgram = errors.New("the daemon is to be started again")

// Options is what a daemon is run with. What is zero is found out.
type Options struct {
	// Version is that of Fulmen.
	Version string
	// Home says where the folders are; the zero value is this process's own
	// environment.
	Home api.Environment
	// Platform is the system; a platform without a name is that of this machine.
	Platform native.Platform
	// Simulation is the simulated Mac to run on, in place of Platform; nil: none.
	Simulation *Simulation
	// Worker is the path of fulmen-rank; empty: beside this program.
	Worker string
	// Bundle is the app that this program belongs to; empty: the one that it lies in, if
	// it does.
	Bundle string
	// BundleGone is how long the app must be gone before it counts as thrown away; 0 is
	// a minute.
	BundleGone time.Duration
	// Sockets are the API's, as launchd or systemd hand them over; nil: the daemon
	// opens its own. With them a daemon that a person has stopped answers that it is.
	Sockets activation.Sockets
	// Supervisor is who wants to hear how the daemon fares; nil: nobody does.
	Supervisor *activation.Supervisor
	// WasRemoved says that the last Run ended with ErrRestart because of a removal.
	WasRemoved bool
	// Log gets the log as text, beside the log file; nil: nothing does.
	Log io.Writer
	// Ready is called once, when clients can connect.
	Ready func(Address)
}

// Address is where clients connect.
type Address struct {
	// URL is the WebSocket on loopback.
	URL string
	// Socket is the path of the Unix socket.
	Socket string
}

// environment is that in which the folders are found.
func (o Options) environment() api.Environment {
	if o.Home.Getenv != nil {
		return o.Home
	}
	return home.Process()
}
