package command

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// sharingKeys are the keys that can be set, with their values, for the help.
const sharingKeys = "  jobs               nobody, mapped, list\n" +
	"  jobs_from          people, with commas: ada@mac-mini,bob@mac-studio\n" +
	"  models             nobody, mapped, members\n" +
	"  rdma_changes       nobody, members\n" +
	"  only_on_power      true, false\n" +
	"  only_when_idle     true, false\n" +
	"  idle_after_s       seconds\n" +
	"  memory_max_bytes   bytes; 0: as much as the GPU can use\n" +
	"  keep_awake         true, false"

func (r *run) sharingCommand() *cobra.Command {
	all := &cobra.Command{
		Use: "sharing", Short: "What this Mac lends to the cluster", Args: cobra.NoArgs,
		Long:    "What this Mac lends: to whom, when, how much. Only administrators of this Mac can change it.",
		Example: "  fulmen sharing\n  fulmen sharing set jobs=mapped only_on_power=true",
		RunE: r.asks(func(ctx context.Context, c *client.Client, _ []string) error {
			return r.sharing(ctx, c, "cluster.sharing", nil)
		}),
	}
	all.AddCommand(&cobra.Command{
		Use: "set KEY=VALUE...", Short: "Change what this Mac lends", Args: cobra.MinimumNArgs(1),
		Long:    "Changes what this Mac lends; keys that are not named stay as they are.\n\n" + sharingKeys,
		Example: "  fulmen sharing set jobs=mapped only_on_power=true\n  fulmen sharing set jobs=nobody",
		RunE: func(c *cobra.Command, args []string) error {
			if _, err := sharingOf(args, nil); err != nil {
				return err
			}
			return r.with(c.Context(), func(c2 *client.Client) error {
				params, err := sharingOf(args, nodeNames(c.Context(), c2))
				if err != nil {
					return err
				}
				return r.sharing(c.Context(), c2, "cluster.set_sharing", params)
			})
		},
	})
	return all
}

// sharing shows what this Mac lends, as a method answers it.
func (r *run) sharing(ctx context.Context, c *client.Client, method string, params any) error {
	return answered(ctx, r, c, method, params, func(w *show.Page, s api.Sharing) { r.view().Sharing(w, s, nodeNames(ctx, c)) })
}

// sharingOf reads KEY=VALUE. Without names of nodes people are not looked at.
func sharingOf(args []string, names show.Names) (api.ClusterSetSharingParams, error) {
	var p api.ClusterSetSharingParams
	for _, arg := range args {
		key, value, found := strings.Cut(arg, "=")
		if !found {
			return p, usage("%q is not KEY=VALUE; the keys are:\n%s", arg, sharingKeys)
		}
		var err error
		switch key {
		case "jobs":
			p.Jobs, err = oneOf[api.JobSharing](key, value)
		case "jobs_from":
			p.JobsFrom, err = peopleOf(value, names)
		case "models":
			p.Models, err = oneOf[api.ModelSharing](key, value)
		case "rdma_changes":
			p.RDMAChanges, err = oneOf[api.ChangeSharing](key, value)
		case "only_on_power":
			p.OnlyOnPower, err = truth(key, value)
		case "only_when_idle":
			p.OnlyWhenIdle, err = truth(key, value)
		case "keep_awake":
			p.KeepAwake, err = truth(key, value)
		case "idle_after_s":
			n, wrong := strconv.ParseFloat(value, 64)
			if wrong != nil || !(n >= 0) || n > 1e9 {
				return p, usage("idle_after_s must be a number of seconds, not %q", value)
			}
			p.IdleAfterS = &n
		case "memory_max_bytes":
			n, wrong := strconv.ParseInt(value, 10, 64)
			if wrong != nil || n < 0 {
				return p, usage("memory_max_bytes must be a number of bytes, not %q", value)
			}
			p.MemoryMaxBytes = &n
		default:
			return p, usage("there is no key %q; the keys are:\n%s", key, sharingKeys)
		}
		if err != nil {
			return p, err
		}
	}
	return p, nil
}

// oneOf reads one of some words.
func oneOf[T interface {
	~string
	Values() []string
	Valid() bool
}](key, value string) (T, error) {
	v := T(value)
	if !v.Valid() {
		return v, usage("%s must be one of %s, not %q", key, strings.Join(v.Values(), ", "), value)
	}
	return v, nil
}

// truth reads true and false, and what people write for them.
func truth(key, value string) (*bool, error) {
	yes := value == "true" || value == "yes" || value == "on"
	if !yes && value != "false" && value != "no" && value != "off" {
		return nil, usage("%s must be true or false, not %q", key, value)
	}
	return &yes, nil
}

// peopleOf reads people, separated by commas; none is an empty list.
func peopleOf(value string, names show.Names) ([]api.Principal, error) {
	people := []api.Principal{}
	if names == nil || value == "" {
		return people, nil
	}
	for word := range strings.SplitSeq(value, ",") {
		who, err := principal(strings.TrimSpace(word), names)
		if err != nil {
			return nil, err
		}
		people = append(people, who)
	}
	return people, nil
}

// sharing is what a person lets the cluster do on this Mac when it is paired.
type sharing struct {
	account string
	nobody  bool
	changes string
}

// flags adds the flags by which a script answers what a person is asked.
func (l *sharing) flags(c *cobra.Command) {
	c.Flags().StringVar(&l.account, "account", "", "the local account that people of the cluster may use to run jobs on this Mac")
	c.Flags().BoolVar(&l.nobody, "nobody", false, "nobody else in the cluster may run jobs on this Mac (the default if there is no terminal to ask on)")
}

// changesFlag adds the one about RDMA.
func (l *sharing) changesFlag(c *cobra.Command) {
	c.Flags().StringVar(&l.changes, "rdma-changes", "", "who may change RDMA on this Mac: members or nobody (the default if there is no terminal to ask on)")
}

// check refuses flags that make no sense together.
func (l *sharing) check() error {
	switch {
	case l.nobody && l.account != "":
		return usage("--account and --nobody contradict each other")
	case l.changes != "" && !api.ChangeSharing(l.changes).Valid():
		return usage("--rdma-changes must be members or nobody, not %q", l.changes)
	}
	return nil
}

// completeSharing asks for what the flags do not say; where nobody can be asked it is
// nobody.
func (r *run) completeSharing(ctx context.Context, l sharing, changes bool) (sharing, error) {
	if !r.InTerminal {
		return l, nil
	}
	if l.account == "" && !l.nobody {
		answer, err := r.question(ctx, "Any member of a cluster can run programs on this Mac, but only as a local account that you name, with its rights.\n"+
			"Which local account may people of the cluster use to run jobs on this Mac?\n"+
			"Account name, or Return for nobody: ")
		if err != nil && !errors.Is(err, io.EOF) {
			return l, err
		}
		if answer != "nobody" {
			l.account = answer
		}
	}
	if changes && l.changes == "" {
		yes, err := r.confirm(ctx, "May administrators of other Macs in the cluster change the RDMA settings of this Mac?")
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
