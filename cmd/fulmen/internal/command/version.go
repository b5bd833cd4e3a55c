package command

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// versions is what fulmen version shows.
type versions struct {
	// Version is the command line's.
	Version string `json:"version"`
	// GoVersion is the compiler's.
	GoVersion string `json:"go_version"`
	// Daemon is daemon.info; absent where none runs.
	Daemon *api.DaemonInfoResult `json:"daemon,omitempty"`
	// Skew is the reason of the condition, where the versions differ.
	Skew api.Reason `json:"skew,omitempty"`
}

func (r *run) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "The versions of this program and of the daemon", Args: cobra.NoArgs,
		Example: "  fulmen version\n  fulmen version --json",
		RunE:    func(c *cobra.Command, _ []string) error { return r.version(c.Context()) },
	}
}

func (r *run) version(ctx context.Context) error {
	v := versions{Version: r.Version, GoVersion: runtime.Version()}
	err := r.with(ctx, func(c *client.Client) error {
		info, err := client.Call[api.DaemonInfoResult](ctx, c, "daemon.info", nil)
		if err == nil {
			v.Daemon, v.Skew = &info, c.Skew()
		}
		return err
	})
	if err != nil && !errors.Is(err, api.ReasonNoDaemon) {
		return err
	}
	if r.json {
		return text.JSON(r.Out, v)
	}
	fmt.Fprintf(r.Out, "fulmen   %s\n", r.Version)
	if v.Daemon == nil {
		_, err = fmt.Fprintln(r.Out, "fulmend  not running")
		return err
	}
	_, err = fmt.Fprintf(r.Out, "fulmend  %s\n", text.Clean(v.Daemon.Version))
	if info, ok := api.LookupReason(v.Skew); ok {
		fmt.Fprintf(r.Out, "%s %s\n", info.Text, info.Remedy)
	}
	return err
}
