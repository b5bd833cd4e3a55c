package job

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology"
)

// Limits of a request that no other part has a reason to know.
const (
	maxName      = 128 // bytes of a name, a label's key and a request_id
	maxLabels    = 64
	maxText      = 1024 // bytes of a label's value
	maxPublish   = 16
	maxRetries   = 1000
	maxDeadlineS = 1e9
)

// bad refuses a field and says what to do.
func bad(field, remedy, format string, args ...any) error {
	return api.Errorf(api.ReasonBadValue, field, "%s: "+format, append([]any{field}, args...)...).WithRemedy(remedy)
}

// checkRequest refuses a request that can never run, with the field.
func checkRequest(r api.JobRequest) error {
	if err := checkText("request.request_id", r.RequestID, maxName); err != nil {
		return err
	}
	if err := checkText("request.name", r.Name, maxName); err != nil {
		return err
	}
	if len(r.Labels) > maxLabels {
		return bad("request.labels", "Use fewer labels.", "%d labels; at most %d are taken", len(r.Labels), maxLabels)
	}
	for key, value := range r.Labels {
		if key == "" {
			return bad("request.labels", "Give every label a name.", "a label has no name")
		}
		if err := checkText("request.labels", key, maxName); err != nil {
			return err
		}
		if err := checkText("request.labels."+key, value, maxText); err != nil {
			return err
		}
	}
	if err := checkProgram("request.program", r.Program); err != nil {
		return err
	}
	if err := checkModel(r); err != nil {
		return err
	}
	if err := checkPlacement(r.Placement); err != nil {
		return err
	}
	if r.OnStall != "" && !r.OnStall.Valid() {
		return bad("request.on_stall", "Use one of "+strings.Join(r.OnStall.Values(), ", ")+", or leave it out.", "%q is not what can become of a job", r.OnStall)
	}
	if err := checkDeadlines(r.Deadlines); err != nil {
		return err
	}
	switch {
	case r.Retries < 0 || r.Retries > maxRetries:
		return bad("request.retries", fmt.Sprintf("Use 0 to %d.", maxRetries), "%d is out of range", r.Retries)
	case r.MaxAttempts < 0 || r.MaxAttempts > api.MaxStarts:
		return bad("request.max_attempts", fmt.Sprintf("Use 1 to %d, or 0 for the default.", api.MaxStarts), "%d is out of range", r.MaxAttempts)
	case r.Output != "" && !r.Output.Valid():
		return bad("request.output", "Use delete or keep.", "%q is not a policy", r.Output)
	}
	return cmp.Or(checkProbes(r.Probes), checkMetrics(r), checkPublish(r.Publish), checkLine(r))
}

const (
	maxAfter         = 32
	minIdleS         = 1
	maxIdleS float64 = 7 * 24 * 3600
)

// checkLine refuses what makes no sense in line.
func checkLine(r api.JobRequest) error {
	switch {
	case r.Priority < api.MinPriority || r.Priority > api.MaxPriority:
		return bad("request.priority", fmt.Sprintf("Use %d to %d.", api.MinPriority, api.MaxPriority), "%d is out of range", r.Priority)
	case len(r.After) > maxAfter:
		return bad("request.after", "Name fewer.", "%d jobs; at most %d are taken", len(r.After), maxAfter)
	case r.IdleS != 0 && !(r.IdleS >= minIdleS && r.IdleS <= maxIdleS):
		return bad("request.idle_s", fmt.Sprintf("Use %d to %.0f, or 0 for the default.", minIdleS, maxIdleS), "%g is out of range", r.IdleS)
	case r.KeepAwake != "" && !r.KeepAwake.Valid():
		return bad("request.keep_awake", "Use "+strings.Join(r.KeepAwake.Values(), ", ")+", or leave it out.", "%q is none of these", r.KeepAwake)
	case !r.Kept && (r.YieldWhenIdle || r.IdleS != 0 || r.KeepAwake != ""):
		return api.Errorf(api.ReasonSpecConflict, "request.kept", "request.kept: yield_when_idle, idle_s and keep_awake are of kept jobs.").WithRemedy("Keep it (kept), or leave them out.")
	case r.YieldWhenIdle && len(r.Publish) == 0 && r.Probes == nil:
		return api.Errorf(api.ReasonSpecConflict, "request.yield_when_idle", "request.yield_when_idle: nobody can tell when it is idle.").WithRemedy("Publish its port, or give it a probe.")
	}
	return nil
}

// checkMetrics refuses metrics that cannot be read.
func checkMetrics(r api.JobRequest) error {
	m := r.Metrics
	if m == nil {
		return nil
	}
	switch u, err := url.ParseRequestURI(m.Path); {
	case err != nil || m.Path[0] != '/' || u.Host != "":
		return bad("request.metrics.path", "Begin it with a slash, as in /metrics.", "%.80q is not a path", m.Path)
	case m.Series == "" || strings.ContainsAny(m.Series, "{} \t"):
		return bad("request.metrics.series", "Name a counter without its labels.", "%.80q is not the name of a series", m.Series)
	case len(r.Publish) == 0:
		return bad("request.metrics", "Publish the port where they are.", "no port is published")
	}
	return cmp.Or(checkText("request.metrics.path", m.Path, maxText), checkText("request.metrics.series", m.Series, maxText))
}

// checkProbes refuses probes that cannot be made.
func checkProbes(all *api.Probes) error {
	for name, p := range all.All() {
		field := "request.probes." + name
		switch u, err := url.ParseRequestURI(p.Path); {
		case len(p.Command) > 0 && (p.Port != 0 || p.Path != "" || p.Body != ""):
			return bad(field+".command", "Make another probe of what is asked at the port.", "it stands beside a port, a path or a body")
		case len(p.Command) > 0 && (p.Command[0] == "" || p.Command[0][0] == '-' || strings.Contains(p.Command[0], "=")):
			return bad(field+".command", "Begin it with a program, such as python or ./check.", "%.80q is not a program", p.Command[0])
		case len(p.Command) == 0 && (p.Port < 1 || p.Port > 65535):
			return bad(field+".port", "Use 1 to 65535.", "%d is not a port", p.Port)
		case p.Path != "" && (err != nil || p.Path[0] != '/' || u.Host != ""):
			return bad(field+".path", "Begin it with a slash, as in /health.", "%.80q is not a path", p.Path)
		case p.Path == "" && p.Body != "":
			return bad(field+".body", "Name the path to post it to.", "there is no path for it")
		case p.Body != "" && !json.Valid([]byte(p.Body)):
			return bad(field+".body", "Give JSON.", "it is not JSON")
		case p.FailureThreshold < 0 || p.FailureThreshold > maxProbes:
			return bad(field+".failure_threshold", fmt.Sprintf("Use 1 to %d, or 0 for the default.", maxProbes), "%d is out of range", p.FailureThreshold)
		case !(p.PeriodS == 0 || p.PeriodS >= 1 && p.PeriodS <= maxProbeS):
			return bad(field+".period_s", fmt.Sprintf("Use 1 to %d, or 0 for the default.", maxProbeS), "%g is out of range", p.PeriodS)
		case !(p.TimeoutS == 0 || p.TimeoutS >= 0.1 && p.TimeoutS <= maxProbeS):
			return bad(field+".timeout_s", fmt.Sprintf("Use 0.1 to %d, or 0 for the default.", maxProbeS), "%g is out of range", p.TimeoutS)
		}
		if err := cmp.Or(checkText(field+".path", p.Path, maxText), checkText(field+".command", strings.Join(p.Command, " "), maxProbeBody), checkText(field+".body", p.Body, maxProbeBody)); err != nil {
			return err
		}
	}
	return nil
}

const (
	// maxProbes is how often in a row a probe may fail, maxProbeS how long it may take and rest.
	maxProbes, maxProbeS = 100_000, 3600
	maxProbeBody         = 16 << 10
)

// checkText refuses text that would break a screen or a log.
func checkText(field, text string, most int) error {
	switch {
	case len(text) > most:
		return bad(field, "Use a shorter one.", "%d bytes; at most %d are taken", len(text), most)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return bad(field, "Use printable characters.", "it holds characters that cannot be shown")
	}
	return nil
}

// checkProgram refuses a program that cannot be executed as it is written.
func checkProgram(field string, p api.Program) error {
	switch {
	case p.Builtin != "" && !p.Builtin.Valid():
		return bad(field+".builtin", "Use one of "+strings.Join(p.Builtin.Values(), ", ")+".", "%q is not a program of Fulmen's own", p.Builtin)
	case p.Builtin == "" && (len(p.Command) == 0 || p.Command[0] == ""):
		return api.Errorf(api.ReasonMissingField, field+".command", "%s.command: there is no program to run.", field).
			WithRemedy("Name the program and its arguments.")
	case p.Stdin != "" && !p.Stdin.Valid():
		return bad(field+".stdin", "Use 0, all or none.", "%q is not a choice", p.Stdin)
	case p.Sync && p.Directory == "":
		return bad(field+".sync", "Name the directory.", "there is no directory to copy")
	case len(p.PrepareInputs) > 0 && len(p.Prepare) == 0:
		return bad(field+".prepare_inputs", "Give the command that prepares it, too.", "there is nothing to prepare")
	}
	for _, path := range []struct{ field, text string }{
		{"directory", p.Directory}, {"home", p.Home}, {"interpreter", p.Interpreter}, {"environment", p.Environment},
	} {
		if strings.ContainsRune(path.text, 0) || !utf8.ValidString(path.text) {
			return bad(field+"."+path.field, "Use a path.", "no path holds such characters")
		}
	}
	if p.Directory != "" && !strings.HasPrefix(p.Directory, "/") {
		return bad(field+".directory", "Use the whole path.", "%q does not begin with /", p.Directory)
	}
	for _, list := range []struct {
		field string
		words []string
	}{{"command", p.Command}, {"prepare", p.Prepare}, {"prepare_inputs", p.PrepareInputs}} {
		for _, w := range list.words {
			if strings.ContainsRune(w, 0) || !utf8.ValidString(w) {
				return bad(field+"."+list.field, "Use text in UTF-8.", "no argument holds such characters")
			}
		}
	}
	return checkVariables(field+".variables", p.Variables)
}

// checkModel refuses a model that cannot be one.
func checkModel(r api.JobRequest) error {
	if r.Model.Model == "" {
		switch {
		case r.Model.Revision != "":
			return api.Errorf(api.ReasonMissingField, "request.model.model", "request.model.model: there is a revision, and no model.").
				WithRemedy("Name the model, as `fulmen models` lists it.")
		case r.FetchModel:
			return api.Errorf(api.ReasonMissingField, "request.model.model", "request.fetch_model: there is no model to copy.").
				WithRemedy("Name the model, as `fulmen models` lists it.")
		case r.Sharding != "":
			return api.Errorf(api.ReasonSpecConflict, "request.sharding", "request.sharding: there is no model to divide.").WithRemedy("Name the model, or leave it out.")
		}
		return nil
	}
	if err := checkText("request.model.model", r.Model.Model, maxText); err != nil {
		return err
	}
	if r.Sharding != "" && !r.Sharding.Valid() {
		return bad("request.sharding", "Use "+strings.Join(r.Sharding.Values(), " or ")+", or leave it out.", "%q is no way to divide a model", r.Sharding)
	}
	return checkText("request.model.revision", r.Model.Revision, maxName)
}

// checkPlacement refuses what no set of nodes can fulfil.
func checkPlacement(p api.Placement) error {
	const field = "request.placement"
	most := api.MaxRank + 1
	for _, n := range []struct {
		field string
		value int
	}{{"ranks", p.Ranks}, {"min_nodes", p.MinNodes}, {"max_nodes", p.MaxNodes}} {
		if n.value < 0 || n.value > most {
			return bad(field+"."+n.field, fmt.Sprintf("Use 1 to %d.", most), "%d is out of range", n.value)
		}
	}
	conflict := func(name, remedy, what string) error {
		return api.Errorf(api.ReasonSpecConflict, field+"."+name, "%s.%s: %s.", field, name, what).WithRemedy(remedy)
	}
	wanted, perNode := max(p.Ranks/p.PerNode(), p.MaxNodes), p.PerNode()
	switch {
	case p.RanksPerNode < 0 || perNode > api.MaxRanksPerNode:
		return bad(field+".ranks_per_node", fmt.Sprintf("Use 1 to %d.", api.MaxRanksPerNode), "%d is out of range", p.RanksPerNode)
	case perNode > 1 && p.Backend.RDMA():
		return conflict("ranks_per_node", "Use ring, or one rank a node.", string(p.Backend)+" takes one rank a node, which has the RDMA devices to itself")
	case p.Ranks%perNode != 0:
		return conflict("ranks", "Use a multiple of ranks_per_node.", fmt.Sprintf("%d ranks cannot be divided into %d a node", p.Ranks, perNode))
	case p.Ranks > 0 && (p.MinNodes > 0 || p.MaxNodes > 0):
		return conflict("ranks", "Give the number, or the fewest and the most.", "it excludes min_nodes and max_nodes")
	case p.Ranks > 0 && p.Widest:
		return conflict("widest", "Give the fewest and the most nodes, or leave it out.", "ranks says how many there are")
	case p.MaxNodes > 0 && p.MinNodes > p.MaxNodes:
		return conflict("min_nodes", "Swap the two.", "it is more than max_nodes")
	case p.Backend != "" && !p.Backend.Valid():
		return bad(field+".backend", "Use one of "+strings.Join(p.Backend.Values(), ", ")+".", "%q is not a backend", p.Backend)
	case p.GPU != "" && !p.GPU.Valid():
		return bad(field+".gpu", "Use one of "+strings.Join(p.GPU.Values(), ", ")+".", "%q is not a way to get a GPU", p.GPU)
	case p.ShareBy != "" && !p.ShareBy.Valid():
		return bad(field+".per_node", "Use "+strings.Join(p.ShareBy.Values(), ", ")+", or leave it out.", "%q is not what shares can be by", p.ShareBy)
	case p.MemoryBytes < 0:
		return bad(field+".memory_bytes", "Use 0 or more.", "%d is negative", p.MemoryBytes)
	case p.Backend == api.BackendJACCL && max(p.Ranks, p.MinNodes) > api.MaxMeshRanks:
		return api.NewError(api.ReasonTooManyRanks, field+".ranks")
	case wanted > 0 && len(p.Nodes) > wanted:
		return conflict("nodes", "Name fewer nodes, or use more ranks.", "more nodes must be used than the ranks need")
	case p.Rank0 != "" && slices.Contains(p.ExcludedNodes, p.Rank0):
		return conflict("rank0", "Use another node.", "the node is excluded")
	}
	for i, n := range p.Nodes {
		if !n.Valid() {
			return bad(field+".nodes", "Use node ids.", "%q is not a node id", n)
		}
		if slices.Contains(p.Nodes[:i], n) {
			return conflict("nodes", "Name each node once; ranks_per_node says how many ranks each has.", n.Display()+" is named twice")
		}
		if slices.Contains(p.ExcludedNodes, n) {
			return conflict("nodes", "Take it from one of the lists.", n.Display()+" is excluded")
		}
	}
	if slices.ContainsFunc(p.ExcludedNodes, func(n api.NodeID) bool { return !n.Valid() }) {
		return bad(field+".excluded_nodes", "Use node ids.", "one is not a node id")
	}
	if p.Rank0 != "" && !p.Rank0.Valid() {
		return bad(field+".rank0", "Use a node id.", "%q is not a node id", p.Rank0)
	}
	return topology.CheckNetworks(field+".networks", p.Networks)
}

// checkDeadlines refuses times that are none.
func checkDeadlines(d api.Deadlines) error {
	for _, t := range []struct {
		field string
		s     *float64
		zero  bool
	}{{"placing_s", d.PlacingS, false}, {"preparing_s", d.PreparingS, false}, {"starting_s", d.StartingS, false},
		{"handshake_s", d.HandshakeS, false}, {"run_s", d.RunS, false}, {"silence_s", d.SilenceS, false}, {"heartbeat_s", d.HeartbeatS, false}, {"grace_s", d.GraceS, true}} {
		if t.s == nil {
			continue
		}
		if s := *t.s; math.IsNaN(s) || s < 0 || s == 0 && !t.zero || s > maxDeadlineS {
			return bad("request.deadlines."+t.field, "Use seconds, or leave it out.", "%v is out of range", s)
		}
	}
	return nil
}

// checkPublish refuses ports that are none, and two of one.
func checkPublish(all []api.Publish) error {
	if len(all) > maxPublish {
		return bad("request.publish", "Publish fewer.", "%d ports; at most %d are taken", len(all), maxPublish)
	}
	for i, p := range all {
		if p.Port < 1 || p.Port > math.MaxUint16 {
			return bad("request.publish", "Use 1 to 65535.", "%d is not a port", p.Port)
		}
		if slices.ContainsFunc(all[:i], func(o api.Publish) bool { return o.Port == p.Port && o.LAN == p.LAN }) {
			return bad("request.publish", "Name each port once.", "port %d is named twice", p.Port)
		}
	}
	return nil
}
