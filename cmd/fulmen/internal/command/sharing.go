package command

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// sharingKeys are the keys that can be set, with their values, for the help.
const sharingKeys = "  jobs               nobody, mapped, list\n" +
	"  jobs_from          people, with commas: ada@mac-mini,bob@mac-studio\n" +
	"  rdma_changes       nobody, members\n" +
	"  only_on_power      true, false\n" +
	"  only_when_idle     true, false\n" +
	"  idle_after_s       seconds\n" +
	"  memory_max_bytes   bytes; 0: as much as the GPU can use\n" +
	"  keep_awake         true, false"

func (r *run) sharingCommand() *cobra.Command {
	all := &cobra.Command{
		Use: "sharing", Short: "What this Mac lends to the cluster", Args: cobra.NoArgs,
		Long:    "What this Mac lends: to whom, when, how much. Only this Mac's own administrators change it.",
		Example: "  fulmen sharing\n  fulmen sharing set jobs=mapped only_on_power=true",
		RunE: func(c *cobra.Command, _ []string) error {
			return r.with(c.Context(), func(c2 *client.Client) error {
				s, err := client.Call[api.Sharing](c.Context(), c2, "cluster.sharing", nil)
				if err != nil {
					return err
				}
				return r.sharing(c.Context(), c2, s)
			})
		},
	}
	all.AddCommand(&cobra.Command{
		Use: "set KEY=VALUE...", Short: "Change what this Mac lends", Args: cobra.MinimumNArgs(1),
		Long:    "Changes what this Mac lends; what is not named stays.\n\n" + sharingKeys,
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
				s, err := client.Call[api.Sharing](c.Context(), c2, "cluster.set_sharing", params)
				if err != nil {
					return err
				}
				return r.sharing(c.Context(), c2, s)
			})
		},
	})
	return all
}

func (r *run) sharing(ctx context.Context, c *client.Client, s api.Sharing) error {
	if r.json {
		return text.JSON(r.Out, s)
	}
	return r.view().Sharing(r.Out, s, nodeNames(ctx, c))
}

// sharingOf reads KEY=VALUE. Without names of nodes people are not looked at.
func sharingOf(args []string, names map[api.NodeID]string) (api.ClusterSetSharingParams, error) {
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
				return p, usage("idle_after_s is a number of seconds, not %q", value)
			}
			p.IdleAfterS = &n
		case "memory_max_bytes":
			n, wrong := strconv.ParseInt(value, 10, 64)
			if wrong != nil || n < 0 {
				return p, usage("memory_max_bytes is a number of bytes, not %q", value)
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
		return v, usage("%s is one of %s, not %q", key, strings.Join(v.Values(), ", "), value)
	}
	return v, nil
}

// truth reads true and false, and what people write for them.
func truth(key, value string) (*bool, error) {
	yes := value == "true" || value == "yes" || value == "on"
	if !yes && value != "false" && value != "no" && value != "off" {
		return nil, usage("%s is true or false, not %q", key, value)
	}
	return &yes, nil
}

// peopleOf reads people, separated by commas; none is an empty list.
func peopleOf(value string, names map[api.NodeID]string) ([]api.Principal, error) {
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
