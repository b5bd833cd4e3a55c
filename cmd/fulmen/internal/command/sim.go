package command

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// simHelp has the changes that a simulation knows; the daemon checks them.
const simHelp = `Changes the simulated cluster of a daemon that runs a scenario. A and B are Macs of the scenario, tb2 a Mac's
port 2; a hub's ports are DOCK.up and DOCK.1, DOCK.2, ... An unknown name at fulmen demo lists the scenarios.

  plug A.tb2 B.tb1 [80G | 40G | 120/40G]
  unplug A.tb2
  retrain A.tb2 40G
  sleep A
  idle A             sleeps by itself, unless it is kept awake
  wake A
  restart A
  set A.KEY VALUE

KEY and VALUE of a Mac:

  rdma               off, on, on_after_restart
  memory.used        a size, such as 96 GB
  memory.pressure    normal, warning, critical
  gpu_use            0 to 1
  watts, celsius     of the Mac, such as 61.5; of its hottest sensor
  thermal            nominal, fair, serious, critical
  power              ac, battery, ups
  battery            0 to 1
  low_power          yes, no
  lid                open, closed
  name               a text
  os                 VERSION/BUILD, such as 26.2/25C56
  configuration      free, locked, refused; of the network, for whoever changes it
  INTERFACE.link     up, down
  INTERFACE.address  PREFIX [ORIGIN], such as 169.254.1.1/30 manual, or none
  INTERFACE.bridge   the name of a bridge, or none
  INTERFACE.service  a new name for its network service, or none
  INTERFACE.present  yes, no
  AREA.told          yes, no; AREA is identity, memory, system, network, thunderbolt or rdma

and of a network, set NETWORK.KEY VALUE:

  link               up, down
  isolated           yes, no: whether its members reach each other`

func (r *run) simCommand() *cobra.Command {
	return &cobra.Command{
		Use: "sim CHANGE...", Short: "Change a simulated cluster: plug, unplug, set", Long: simHelp,
		ValidArgs: []string{"plug", "unplug", "retrain", "sleep", "idle", "wake", "restart", "set"},
		Example: "  fulmen sim plug studio-1.tb2 studio-2.tb1 80G\n  fulmen sim retrain studio-1.tb2 40G\n" +
			"  fulmen sim set studio-2.rdma off",
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			line := strings.Join(args, " ")
			if strings.ContainsAny(line, "\r\n") {
				return usage("a change must be one line")
			}
			return r.with(c.Context(), func(c2 *client.Client) error { return r.simulate(c.Context(), c2, line) })
		},
	}
}

func (r *run) simulate(ctx context.Context, c *client.Client, line string) error {
	err := r.done(ctx, c, "daemon.simulate", api.DaemonSimulateParams{Line: line}, "Done. To see the effect: fulmen topology")
	if known, ok := errors.AsType[*api.Error](err); ok && known.Code == api.CodeInvalid && known.Data.Remedy == "" {
		return advised(known, "To see every change you can make: fulmen help sim")
	}
	return err
}
