package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
)

// run is one run of the command line.
type run struct {
	App
	json  bool
	wide  bool
	color string
	began bool // the command line made sense and a command was begun
}

// Run does what the arguments say and gives the exit status: api.ExitOK,
// api.ExitFailed, or api.ExitUsage for a command line that makes no sense; that
// of the other program, where one does the work, or of the job.
func (a App) Run(ctx context.Context, args []string) int {
	a.timeout, a.settle = cmp.Or(a.timeout, defaultTimeout), cmp.Or(a.settle, defaultSettle)
	r := &run{App: a}
	root := r.root()
	root.SetArgs(args)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return api.ExitOK
	case !r.began:
		r.explain(mistyped(err))
		return api.ExitUsage
	}
	r.explain(err)
	if own, ok := errors.AsType[withStatus](err); ok {
		return own.status
	}
	if ended, ok := errors.AsType[exited](err); ok {
		return ended.status
	}
	return api.ExitFailed
}

// mistyped is a command line that cobra does not take, with the commands that it takes it for.
func mistyped(err error) error {
	message, similar, _ := strings.Cut(err.Error(), "\n\nDid you mean this?\n")
	out := usage("%s", message)
	if names := strings.Fields(similar); len(names) > 0 {
		return withStatus{api.ExitUsage, advised(api.AsError(out), "Did you mean "+strings.Join(names, " or ")+"? See: fulmen help")}
	}
	return out
}

func (r *run) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "fulmen",
		Short: "Fulmen makes the Macs on a desk one machine for MLX",
		Long: "Fulmen makes the Macs on a desk, joined by Thunderbolt 5 cables, one machine for MLX.\n" +
			"This is its command line; it talks to the daemon, fulmend, of this Mac.",
		Example: "  fulmen status              what this machine is, and whether it is healthy\n" +
			"  fulmen topology            what is plugged in where, and how fast\n" +
			"  fulmen dashboard           the same as a picture, in the browser\n" +
			"  fulmen pair                add another Mac: type fulmen join there\n" +
			"  fulmen measure gpu         how fast its GPU is\n" +
			"  fulmen run -n 2 -- python train.py\n" +
			"                             run a program on two Macs\n" +
			"  fulmen jobs                what runs\n" +
			"  fulmen watch memory        follow its memory use\n" +
			"  fulmen doctor              what is wrong, and what to do",
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			if err := c.ValidateFlagGroups(); err != nil { // which cobra does after this only
				return err
			}
			if !slices.Contains([]string{colorAuto, colorAlways, colorNever}, r.color) {
				return fmt.Errorf("--color is auto, always or never, not %q", r.color)
			}
			r.began = true
			return nil
		},
	}
	flags := root.PersistentFlags()
	flags.BoolVar(&r.json, "json", false, "print the API's own result objects as JSON")
	flags.BoolVar(&r.wide, "wide", false, "more columns, however wide the terminal is, and why something is unknown")
	flags.StringVar(&r.color, "color", colorAuto, "color what says how something is: auto (on a terminal, unless NO_COLOR is set), always, never")
	root.AddCommand(
		r.statusCommand(), r.dashboardCommand(), r.nodesCommand(), r.topologyCommand(), r.exportCommand(), r.linksCommand(), r.rdmaCommand(), r.modelsCommand(), r.watchCommand(), r.topCommand(), r.eventsCommand(), r.measureCommand(), r.benchCommand(), r.doctorCommand(),
		r.runCommand(), r.serveCommand(), r.applyCommand(), r.deleteCommand(), r.planCommand(), r.envCommand(), r.jobsCommand(), r.jobCommand(),
		r.pairCommand(), r.joinCommand(), r.inviteCommand(), r.peersCommand(), r.pendingCommand(), r.removeCommand(),
		r.usersCommand(), r.sharingCommand(), r.renameCommand(),
		r.reportCommand(), r.tokenCommand(), r.configCommand(), r.logsCommand(), r.startCommand(), r.stopCommand(), r.installCommand(), r.uninstallCommand(), r.restartCommand(), r.versionCommand(), r.simCommand(), r.demoCommand(),
		r.debugCommand(),
	)
	return root
}

// oneLess wants so many arguments, and one less with a flag that stands for it.
func oneLess(flag *bool, want int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		want := want
		if *flag {
			want--
		}
		if len(args) != want {
			return fmt.Errorf("%s takes %d arguments here, not %d", strings.TrimPrefix(c.CommandPath(), "fulmen "), want, len(args))
		}
		return nil
	}
}

// group is a command that has commands of its own and does nothing itself.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(commands...)
	return c
}

// view is how this run shows things.
func (r *run) view() show.View { return show.View{Now: r.Now(), Wide: r.wide} }

// usage is a command line that makes no sense.
func usage(format string, args ...any) error {
	return withStatus{api.ExitUsage, &api.Error{Code: api.CodeInvalid, Message: fmt.Sprintf(format, args...),
		Data: api.ErrorData{Reason: api.ReasonBadValue, Remedy: "See: fulmen help"}}}
}

// exited ends a command with a status, after what was wrong has been said: by this
// program, or by another one.
type exited struct{ status int }

func (exited) Error() string { return "failed" }

// notRunning is a daemon that was not found.
func notRunning() *api.Error {
	return advised(api.Errorf(api.ReasonNoDaemon, "", "Fulmen is not running."), "Start it with: fulmen install. Only for now: fulmend")
}

// advised is an error with what to do about it.
func advised(e *api.Error, remedy string) *api.Error {
	out := *e
	out.Data.Remedy = remedy
	return &out
}

// explain says what went wrong and what to do next; as JSON where JSON is wanted.
func (r *run) explain(err error) {
	if errors.As(err, &exited{}) {
		return
	}
	known, ok := errors.AsType[*api.Error](err)
	if !ok {
		message := err.Error()
		known = &api.Error{Code: api.CodeInternal, Message: message, Data: api.ErrorData{Reason: api.ReasonInternal}}
	}
	known = rephrase(known)
	if r.json {
		_ = text.JSON(r.Err, map[string]*api.Error{"error": known}) // nobody is left to tell
		return
	}
	fmt.Fprintf(r.Err, "fulmen: %s\n", text.Clean(known.Message))
	for _, c := range known.Data.Causes {
		fmt.Fprintf(r.Err, "  %s\n", text.Clean(c.Message))
	}
	if known.Data.Remedy != "" {
		fmt.Fprintf(r.Err, "  %s\n", text.Clean(known.Data.Remedy))
	}
}

// rephrase makes an error fit for somebody at a command line, where the API's
// is about addresses and methods.
func rephrase(e *api.Error) *api.Error {
	out := *e
	switch {
	case notBuilt(e):
		out.Message = "The running daemon is too old for this command."
		out.Data.Remedy = "Update Fulmen, then run: fulmen restart"
	case e.Data.Reason == api.ReasonNoDaemon && e.Data.Remedy == api.NewError(api.ReasonNoDaemon, "").Data.Remedy:
		out.Data.Remedy = "See: fulmen doctor" // it was there a moment ago
	}
	return &out
}

// notBuilt reports whether the daemon is of a version that lacks a method.
func notBuilt(err error) bool {
	return errors.Is(err, api.ReasonNotBuiltYet) || errors.Is(err, api.ReasonUnknownMethod)
}
