package job

import (
	"context"
	"maps"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
)

// Limits of what is passed in environment variables. Values stay in memory of the
// nodes that keep the job.
const (
	maxVariables        = 1024
	maxEnvironmentBytes = 256 << 10
)

// valuesRequested gives the values of variables to the node that is the job's home.
func (j *Jobs) valuesRequested(_ context.Context, _ gate.Home, p api.PeerJobParams) (any, error) {
	return api.PeerJobResult{Environment: maps.Clone(j.environment(p.Job))}, nil
}

// recallValues gives the values of a job's variables. A home that has lost them, or
// never had them, asks the submitter's node.
func (j *Jobs) recallValues(ctx context.Context, id api.JobID, spec api.JobSpec, homes []api.Succession) map[string]string {
	values := j.environment(id)
	submitter := spec.Principal.Node
	if !missing(spec.Program, values) || submitter == j.cfg.Node || !slices.Contains(j.presence().Reached, submitter) {
		return values
	}
	var result api.PeerJobResult
	params := api.PeerJobParams{RequestKind: api.RequestValues, Job: id, By: spec.Principal, Homes: homes}
	err := j.call(ctx, submitter, "peer.job", params, &result, callWithin, "to give the values of the job's variables")
	if err == nil {
		err = checkEnvironment(spec.Program, result.Environment, false)
	}
	if err != nil {
		j.cfg.Log.Info("the submitter's node does not have the values of a job's variables", "job", id, "node", submitter, "error", err)
		return values
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if k := j.jobs[id]; k != nil && !k.gone {
		j.values[id] = result.Environment
	}
	return result.Environment
}

// reserved are names that Fulmen sets for every rank.
func reserved(name string) bool {
	return slices.Contains([]string{"MLX_RANK", "MLX_HOSTFILE", "MLX_IBV_DEVICES", "MLX_JACCL_COORDINATOR"}, name) ||
		strings.HasPrefix(name, "FULMEN_")
}

// checkVariables refuses names that are none, are given twice, or are Fulmen's.
func checkVariables(field string, names []string) error {
	if len(names) > maxVariables {
		return bad(field, "Pass fewer.", "%d variables; at most %d are taken", len(names), maxVariables)
	}
	for i, name := range names {
		switch {
		case !isVariable(name):
			return bad(field, "Use letters, digits and _, not a digit first.", "%q is not a name of a variable", name)
		case reserved(name):
			return bad(field, "Leave it out.", "%s is set by Fulmen", name)
		case slices.Contains(names[:i], name):
			return bad(field, "Name each variable once.", "%s is named twice", name)
		}
	}
	return nil
}

func isVariable(name string) bool {
	for i := range len(name) {
		c := name[i] | 0x20
		if letter := c >= 'a' && c <= 'z' || name[i] == '_'; !letter && (i == 0 || name[i] < '0' || name[i] > '9') {
			return false
		}
	}
	return name != "" && len(name) <= maxName
}

// checkEnvironment refuses values that the spec does not name, and names without a
// value, except where a node that was restarted has lost them all.
func checkEnvironment(p api.Program, values map[string]string, mayLack bool) error {
	size := 0
	for name, value := range values {
		if !slices.Contains(p.Variables, name) {
			return bad("environment", "Name it in program.variables too.", "%q is not among the program's variables", name)
		}
		if strings.ContainsRune(value, 0) {
			return bad("environment", "Take it out.", "the value of %s holds a zero byte", name)
		}
		size += len(name) + len(value)
	}
	if size > maxEnvironmentBytes {
		return bad("environment", "Put long values into a file.", "the values have %d bytes; at most %d are taken", size, maxEnvironmentBytes)
	}
	if mayLack && len(values) == 0 {
		return nil
	}
	for _, name := range p.Variables {
		if _, ok := values[name]; !ok {
			return bad("environment", "Give it a value, or take it from program.variables.", "%s has no value", name)
		}
	}
	return nil
}
