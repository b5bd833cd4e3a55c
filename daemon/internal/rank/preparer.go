package rank

import (
	"context"
	"io"

	"fulmen/daemon/api"
)

// Preparer finds on this node what a program needs. All that touches a path
// from a spec is done as the account.
type Preparer interface {
	// Account finds a local account by its name.
	Account(name string) (Account, error)
	// Resolve finds out what is executed, and in what surroundings.
	Resolve(ctx context.Context, account Account, program api.Program, environment map[string]string) (Resolved, error)
	// Prepare runs the spec's preparation, unless that was done for the same
	// inputs before. What it prints goes to log.
	Prepare(ctx context.Context, account Account, program api.Program, environment map[string]string, log io.Writer) error
}

// Account is a local account.
type Account struct {
	// Name is as the system spells it.
	Name string
	// UID and GID are its numbers.
	UID, GID uint32
	// Groups are all groups that it belongs to.
	Groups []uint32
	// Home is its folder.
	Home string
}

// Resolved is a program as it is executed on this node.
type Resolved struct {
	// Program is its absolute path.
	Program string
	// Args are its arguments, without its name.
	Args []string
	// Env is its environment, "NAME=value".
	Env []string
	// Dir is where it starts.
	Dir string
}
