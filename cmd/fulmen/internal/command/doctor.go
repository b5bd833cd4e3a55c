package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func (r *run) doctorCommand() *cobra.Command {
	var hardware bool
	c := &cobra.Command{
		Use: "doctor", Short: "Check the installation and this node, and say what to do", Args: cobra.NoArgs,
		Long: "Checks everything that can stand in the way: the daemon, its socket, versions, api.json, MLX, BLAS, the configuration and\n" +
			"what the daemon itself reports. Ends with 1 if something is wrong.\n\n" +
			"--hardware compares each fact of this machine's hardware with what the system says now and, on a Mac, with a second\n" +
			"source: system_profiler, the RDMA library and its driver, ifconfig. Each fact has a line that says agree,\n" +
			"differ or unknown. Ends with 1 if one differs.",
		Example: "  fulmen doctor\n  fulmen doctor --hardware\n  fulmen doctor --json | jq '.checks[] | select(.answer != \"yes\")'",
		RunE: func(c *cobra.Command, _ []string) error {
			if hardware {
				return r.with(c.Context(), func(c2 *client.Client) error {
					result, err := client.Call[api.DaemonDoctorResult](c.Context(), c2, "daemon.doctor", api.DaemonDoctorParams{Hardware: true})
					if err != nil {
						return err
					}
					return r.checks(result, r.view().Hardware)
				})
			}
			return r.checks(r.doctor(c.Context()), r.view().Checks)
		},
	}
	c.Flags().BoolVar(&hardware, "hardware", false, "compare each fact of the hardware with its second source")
	return c
}

// checks shows what was checked. It fails where something is wrong.
func (r *run) checks(result api.DaemonDoctorResult, words func(*show.Page, []api.DoctorCheck)) error {
	err := r.answer(result, func(w *show.Page) { words(w, result.Checks) })
	if err == nil && slices.ContainsFunc(result.Checks, func(c api.DoctorCheck) bool { return c.Answer == api.AnswerNo }) {
		return exited{api.ExitFailed}
	}
	return err
}

// doctor makes all checks, in the order in which a person goes through them.
func (r *run) doctor(ctx context.Context) api.DaemonDoctorResult {
	var result api.DaemonDoctorResult
	add := func(checks ...api.DoctorCheck) { result.Checks = append(result.Checks, checks...) }
	err := r.with(ctx, func(c *client.Client) error {
		info, err := client.Call[api.DaemonInfoResult](ctx, c, "daemon.info", nil)
		if err != nil {
			return err
		}
		r.keepAddress(ctx, c, info)
		add(yes("daemon", "The daemon runs and answers (version %s, pid %d, port %d for other Macs).", info.Version, info.PID, info.PeerPort))
		add(socketCheck(info.Socket), skewCheck(r.Version, info.Version, c.Skew()), r.fileCheck(info))
		add(nodeChecks(ctx, c, info)...)
		if own, err := client.Call[api.DaemonDoctorResult](ctx, c, "daemon.doctor", nil); err == nil {
			add(own.Checks...)
		}
		return nil
	})
	if err != nil {
		add(r.absent(err)...)
	}
	return result
}

// absent says why no daemon answers, as far as its sockets tell.
func (r *run) absent(err error) []api.DoctorCheck {
	for _, a := range client.Find(r.Environment) {
		if a.Socket == "" {
			continue
		}
		conn, problem := net.DialTimeout("unix", a.Socket, answerTimeout)
		switch {
		case problem == nil:
			_ = conn.Close() // it was opened to see whether it can be
			return []api.DoctorCheck{no("daemon", api.AsError(err), "The daemon does not answer: %s", api.AsError(err).Message)}
		case errors.Is(problem, fs.ErrPermission):
			return []api.DoctorCheck{no("socket", api.NewError(api.ReasonAdminRequired, a.Socket).
				WithRemedy("Use the account that started fulmend, or start it as root for everybody."), "You may not use the daemon's socket %s.", a.Socket)}
		}
	}
	e := rephrase(api.AsError(err))
	return []api.DoctorCheck{no("daemon", e, "%s", e.Message)}
}

func yes(check, format string, args ...any) api.DoctorCheck {
	return api.DoctorCheck{Check: check, Answer: api.AnswerYes, Text: fmt.Sprintf(format, args...)}
}

// no is a check that failed, with the reason and the remedy of an error.
func no(check string, e *api.Error, format string, args ...any) api.DoctorCheck {
	return api.DoctorCheck{Check: check, Answer: api.AnswerNo, Reason: e.Data.Reason, Text: fmt.Sprintf(format, args...), Remedy: e.Data.Remedy}
}

// unclear is a check that could not be made.
func unclear(check string, reason api.Reason, remedy, format string, args ...any) api.DoctorCheck {
	return api.DoctorCheck{Check: check, Answer: api.AnswerUnknown, Reason: reason, Text: fmt.Sprintf(format, args...), Remedy: remedy}
}

func socketCheck(path string) api.DoctorCheck {
	status, err := os.Stat(path)
	if err != nil {
		return unclear("socket", api.ReasonReadFailed, "", "The socket %s cannot be checked.", path)
	}
	return yes("socket", "You may use the daemon's socket %s (mode %#o).", path, status.Mode().Perm())
}

func skewCheck(mine, daemons string, skew api.Reason) api.DoctorCheck {
	if skew == "" {
		return yes("version", "This program and the daemon have the same version.")
	}
	return no("version", api.NewError(skew, "").
		WithRemedy("Install both from the same release, and restart the daemon."), "This program is version %s and the daemon %s.", mine, daemons)
}

// fileCheck examines the user's own api.json.
func (r *run) fileCheck(info api.DaemonInfoResult) api.DoctorCheck {
	const remake = "Write it again with: fulmen token create"
	path := client.APIFilePath(r.Environment)
	file, err := client.LoadAddress(path)
	problem := &api.Error{Data: api.ErrorData{Reason: api.ReasonNoToken, Remedy: remake}}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return no("api_file", problem, "Scripts cannot find the daemon's address: there is no file %s.", path)
	case err != nil:
		problem.Data.Reason = api.AsError(err).Data.Reason
		return no("api_file", problem, "%s cannot be used: %v", path, err)
	case file.Node != info.Node || file.URL != info.APIURL:
		return no("api_file", problem, "%s belongs to another daemon.", path)
	}
	return yes("api_file", "Scripts find the address and your token in %s.", path)
}

// nodeChecks examines what the daemon knows about itself and its node.
func nodeChecks(ctx context.Context, c *client.Client, info api.DaemonInfoResult) []api.DoctorCheck {
	var listing api.DaemonConfigResult
	var state api.StateGetResult
	var conditions api.NodeConditionsResult
	var all errgroup.Group
	ask(ctx, c, &all, "daemon.config", nil, &listing)
	ask(ctx, c, &all, "state.get", api.StateSelect{Nodes: []api.NodeRef{api.NodeRef(info.Node)}}, &state)
	ask(ctx, c, &all, "node.conditions", nil, &conditions)
	if err := all.Wait(); err != nil {
		e := rephrase(api.AsError(err))
		return []api.DoctorCheck{no("daemon", e, "The daemon cannot be asked: %s", e.Message)}
	}
	var checks []api.DoctorCheck
	if e := listing.Error; e != nil {
		checks = append(checks, no("config", e, "%s", e.Message))
	} else {
		checks = append(checks, yes("config", "The configuration has no errors (%s).", listing.File))
	}
	var identity api.Identity
	var gpu api.GPUProfile
	unknown := decode(state.Docs, api.KindIdentity, &identity)
	decode(state.Docs, api.KindGPUProfile, &gpu)
	checks = append(checks, mlxCheck(identity, unknown), blasCheck(identity, gpu))
	return append(checks, conditionChecks(conditions.Conditions)...)
}

// decode reads the document of a kind and gives what is unknown in it.
func decode(docs []api.Document, kind api.Kind, into any) map[string]api.Reason {
	for _, d := range docs {
		if d.Kind == kind && !d.Deleted && d.Decode(into) == nil {
			return d.Unknown
		}
	}
	return nil
}

func mlxCheck(i api.Identity, unknown map[string]api.Reason) api.DoctorCheck {
	reason := unknown["mlx_version"]
	switch {
	case i.MLXVersion != "":
		return yes("mlx", "MLX %s was found.", i.MLXVersion)
	case reason == api.ReasonMLXMissing:
		e := api.NewError(reason, "")
		return no("mlx", e, "%s", e.Message)
	case reason == "":
		return unclear("mlx", api.ReasonStarting, "Try again in a moment.", "The daemon does not know yet which MLX is installed.")
	}
	e := api.NewError(reason, "")
	return unclear("mlx", reason, e.Data.Remedy, "It is not known whether MLX is installed: %s", e.Message)
}

// blasCheck examines the library behind matrix products on the processor, which
// matters where MLX has no GPU.
func blasCheck(i api.Identity, p api.GPUProfile) api.DoctorCheck {
	slow := api.NewError(api.ReasonBLASSlow, "")
	switch {
	case slices.Contains(i.MLXDevices, api.MLXDeviceMetal), slices.Contains(i.MLXDevices, api.MLXDeviceCUDA):
		return yes("blas", "MLX computes on the GPU.")
	case p.Conditions.BLAS == "reference":
		return no("blas", slow, "%s", slow.Message)
	case p.Conditions.BLAS != "":
		return yes("blas", "MLX computes on the processor with %s.", p.Conditions.BLAS)
	case !p.MeasuredAt.IsZero(): // to measure again would tell no more
		return unclear("blas", api.ReasonNotMeasured, "", "The last measurement did not show which BLAS MLX uses.")
	}
	return unclear("blas", api.ReasonNotMeasured, "Measure it with: fulmen measure gpu", "It is not known which BLAS MLX uses until the GPU is measured.")
}

// conditionChecks are what the node itself says is wrong. What is only worth
// knowing does not fail.
func conditionChecks(all []api.NodeCondition) []api.DoctorCheck {
	if len(all) == 0 {
		return []api.DoctorCheck{yes("health", "The daemon reports nothing wrong.")}
	}
	var checks []api.DoctorCheck
	for _, c := range all {
		check := api.DoctorCheck{Check: "health", Answer: api.AnswerNo, Reason: c.Code, Text: c.Text, Remedy: c.Remedy}
		if c.Severity == api.SeverityInfo {
			check.Answer = api.AnswerYes
		}
		checks = append(checks, check)
	}
	return checks
}
