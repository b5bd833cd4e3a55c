package command

import (
	"context"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// nodeChecks examines what the daemon knows about itself and its node.
func nodeChecks(ctx context.Context, c *client.Client, info api.DaemonInfoResult) []api.DoctorCheck {
	var listing api.DaemonConfigResult
	var state api.StateGetResult
	var conditions api.NodeConditionsResult
	all := asking{ctx: ctx, client: c}
	ask(&all, "daemon.config", nil, &listing)
	ask(&all, "state.get", api.StateSelect{Nodes: []api.NodeRef{api.NodeRef(info.Node)}}, &state)
	ask(&all, "node.conditions", nil, &conditions)
	if err := all.wait(); err != nil {
		e := rephrase(api.AsError(err))
		return []api.DoctorCheck{no("daemon", e, "The daemon cannot be asked: %s", e.Message)}
	}
	var checks []api.DoctorCheck
	if e := listing.Error; e != nil {
		checks = append(checks, no("config", e, "%s", e.Message))
	} else {
		checks = append(checks, yes("config", "The configuration is well (%s).", listing.File))
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
		return yes("mlx", "MLX %s is found.", i.MLXVersion)
	case reason == api.ReasonMLXMissing:
		e := api.NewError(reason, "")
		return no("mlx", e, "%s", e.Message)
	case reason == "":
		return unclear("mlx", api.ReasonStarting, "Repeat this in a moment.", "The daemon has not learnt yet which MLX there is.")
	}
	e := api.NewError(reason, "")
	return unclear("mlx", reason, e.Data.Remedy, "Whether there is MLX is not known: %s", e.Message)
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
		return unclear("blas", api.ReasonNotMeasured, "", "The last measurement did not tell which BLAS MLX uses.")
	}
	return unclear("blas", api.ReasonNotMeasured, "Measure it with: fulmen measure gpu", "Which BLAS MLX uses is known after a measurement.")
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
