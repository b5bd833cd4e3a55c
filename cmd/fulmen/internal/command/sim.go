package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// simVerbs are the changes that a simulation knows, with their words, for the
// help and for completion; the daemon checks them.
func simVerbs() []string {
	return []string{
		"plug A.tb2 B.tb1 [80G | 40G | 120/40G]",
		"unplug A.tb2",
		"retrain A.tb2 40G",
		"sleep A",
		"wake A",
		"restart A",
		"set A.KEY VALUE",
	}
}

// simKeys are what can be set, with their values.
func simKeys() [][2]string {
	return [][2]string{
		{"rdma", "off, on, on_after_restart"},
		{"memory.used", "a size, such as 96 GB"},
		{"memory.pressure", "normal, warning, critical"},
		{"thermal", "nominal, fair, serious, critical"},
		{"power", "ac, battery, ups"},
		{"battery", "0 to 1"},
		{"low_power", "yes, no"},
		{"lid", "open, closed"},
		{"name", "a text"},
		{"os", "VERSION/BUILD, such as 26.2/25C56"},
		{"configuration", "free, locked, refused; of the network, for whoever changes it"},
		{"INTERFACE.link", "up, down"},
		{"INTERFACE.address", "PREFIX [ORIGIN], such as 169.254.1.1/30 manual, or none"},
		{"INTERFACE.bridge", "the name of a bridge, or none"},
		{"INTERFACE.service", "a new name for its network service, or none"},
		{"INTERFACE.present", "yes, no"},
		{"AREA.told", "yes, no; AREA is identity, memory, system, network, thunderbolt or rdma"},
	}
}

func (r *run) simCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "sim CHANGE...", Short: "Change a simulated cluster: plug, unplug, set",
		Long: simHelp(),
		Example: "  fulmen sim plug studio-1.tb2 studio-2.tb1 80G\n  fulmen sim retrain studio-1.tb2 40G\n" +
			"  fulmen sim set studio-2.rdma off",
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			line := strings.Join(args, " ")
			if strings.ContainsAny(line, "\r\n") {
				return usage("a change is one line")
			}
			return r.with(c.Context(), func(c2 *client.Client) error { return r.simulate(c.Context(), c2, line) })
		},
	}
	for _, v := range simVerbs() {
		verb, _, _ := strings.Cut(v, " ")
		c.ValidArgs = append(c.ValidArgs, verb)
	}
	return c
}

func simHelp() string {
	var b strings.Builder
	b.WriteString("Changes the simulated cluster of a daemon that runs a scenario. A and B are Macs of the scenario, tb2 a Mac's\n" +
		"receptacle 2; a hub's are DOCK.up and DOCK.1, DOCK.2, ...\n\n")
	for _, v := range simVerbs() {
		b.WriteString("  " + v + "\n")
	}
	b.WriteString("\nKEY and VALUE of a Mac:\n\n")
	for _, k := range simKeys() {
		fmt.Fprintf(&b, "  %-18s %s\n", k[0], k[1])
	}
	b.WriteString("\nand of a network, set NETWORK.KEY VALUE:\n\n" +
		"  link               up, down\n" +
		"  isolated           yes, no: whether its members reach each other\n")
	return strings.TrimSuffix(b.String(), "\n")
}

func (r *run) simulate(ctx context.Context, c *client.Client, line string) error {
	if _, err := client.Call[api.Empty](ctx, c, "daemon.simulate", api.DaemonSimulateParams{Line: line}); err != nil {
		e := *api.AsError(err)
		if e.Code == api.CodeInvalid && e.Data.Remedy == "" {
			e.Data.Remedy = "See the changes that there are: fulmen help sim"
		}
		return &e
	}
	if r.json {
		return text.JSON(r.Out, api.Empty{})
	}
	_, err := fmt.Fprintln(r.Out, "Done. See what became of it: fulmen topology")
	return err
}
