package command

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"fulmen/daemon/api"
)

// lending is what a person lets the cluster do on this Mac when it is paired.
type lending struct {
	account string
	nobody  bool
	changes string
}

// flags adds the flags by which a script answers what a person is asked.
func (l *lending) flags(c *cobra.Command) {
	c.Flags().StringVar(&l.account, "account", "", "the local account as which the cluster's people may run jobs on this Mac")
	c.Flags().BoolVar(&l.nobody, "nobody", false, "no job of the cluster's people runs on this Mac (what counts where nobody can be asked)")
}

// changesFlag adds the one about RDMA.
func (l *lending) changesFlag(c *cobra.Command) {
	c.Flags().StringVar(&l.changes, "rdma-changes", "", "who may change RDMA on this Mac: members or nobody (what counts where nobody can be asked)")
}

// check refuses flags that make no sense together.
func (l *lending) check() error {
	switch {
	case l.nobody && l.account != "":
		return usage("--account and --nobody contradict each other")
	case l.changes != "" && !api.ChangeSharing(l.changes).Valid():
		return usage("--rdma-changes is members or nobody, not %q", l.changes)
	}
	return nil
}

// complete asks for what the flags do not say; where nobody can be asked it is
// nobody.
func (r *run) complete(ctx context.Context, l lending, changes bool) (lending, error) {
	if !r.InTerminal {
		return l, nil
	}
	if l.account == "" && !l.nobody {
		answer, err := r.question(ctx, "Any member of a cluster can run programs on this Mac, but only as a local account that you name, with its rights.\n"+
			"As which local account may the people of the cluster run jobs on this Mac?\n"+
			"Account name, or Return for nobody: ")
		if err != nil && !errors.Is(err, io.EOF) {
			return l, err
		}
		if answer != "nobody" {
			l.account = answer
		}
	}
	if changes && l.changes == "" {
		yes, err := r.confirm(ctx, "May administrators of the cluster's members change the RDMA settings of this Mac?")
		if err != nil {
			return l, err
		}
		l.changes = string(api.ChangesNobody)
		if yes {
			l.changes = string(api.ChangesMembers)
		}
	}
	return l, nil
}
