package rank

import (
	"context"
	"io"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/prepare"
)

// Preparer finds on this node what a program needs. All that touches a path
// from a spec is done as the account.
type Preparer interface {
	// Account finds a local account by its name.
	Account(name string) (prepare.Account, error)
	// Resolve finds out what is executed, and in what surroundings.
	Resolve(ctx context.Context, account prepare.Account, program api.Program, environment map[string]string) (prepare.Resolved, error)
	// Prepare runs the spec's preparation, unless that was done for the same
	// inputs before. What it prints goes to log.
	Prepare(ctx context.Context, account prepare.Account, program api.Program, log io.Writer) error
}
