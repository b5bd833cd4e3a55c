package job

import (
	"math"
	"strings"
	"testing"

	"fulmen/daemon/api"
)

// Every field that is wrong is named, with what to do about it.
func TestCheckRequest(t *testing.T) {
	nodes := []api.NodeID{nodeOf("a"), nodeOf("b")}
	s := func(v float64) *float64 { return &v }
	for name, test := range map[string]struct {
		change func(*api.JobRequest)
		field  string
	}{
		"fine":                 {func(r *api.JobRequest) {}, ""},
		"a builtin":            {func(r *api.JobRequest) { r.Program = api.Program{Builtin: api.BuiltinAllReduce} }, ""},
		"no program":           {func(r *api.JobRequest) { r.Program.Command = nil }, "request.program.command"},
		"an empty program":     {func(r *api.JobRequest) { r.Program.Command = words("", "x") }, "request.program.command"},
		"a zero byte":          {func(r *api.JobRequest) { r.Program.Command = words("a", "b\x00") }, "request.program.command"},
		"no such builtin":      {func(r *api.JobRequest) { r.Program = api.Program{Builtin: "nap"} }, "request.program.builtin"},
		"a relative directory": {func(r *api.JobRequest) { r.Program.Directory = "x" }, "request.program.directory"},
		"sync of nothing":      {func(r *api.JobRequest) { r.Program.Sync = true }, "request.program.sync"},
		"inputs of nothing":    {func(r *api.JobRequest) { r.Program.PrepareInputs = words("x") }, "request.program.prepare_inputs"},
		"stdin":                {func(r *api.JobRequest) { r.Program.Stdin = "7" }, "request.program.stdin"},
		"a variable":           {func(r *api.JobRequest) { r.Program.Variables = words("A-B") }, "request.program.variables"},
		"a digit first":        {func(r *api.JobRequest) { r.Program.Variables = words("1A") }, "request.program.variables"},
		"a variable twice":     {func(r *api.JobRequest) { r.Program.Variables = words("A", "A") }, "request.program.variables"},
		"Fulmen's variable":    {func(r *api.JobRequest) { r.Program.Variables = words("MLX_RANK") }, "request.program.variables"},
		"a long name":          {func(r *api.JobRequest) { r.Name = strings.Repeat("x", 200) }, "request.name"},
		"a name with a bell":   {func(r *api.JobRequest) { r.Name = "\a" }, "request.name"},
		"a request_id":         {func(r *api.JobRequest) { r.RequestID = "\xff" }, "request.request_id"},
		"a model": {func(r *api.JobRequest) {
			r.Model, r.Sharding = api.ModelSelect{Model: "org/m", Revision: "main"}, api.ShardingPipeline
		}, ""},
		"a model with a bell": {func(r *api.JobRequest) { r.Model.Model = "\a" }, "request.model.model"},
		"a revision alone":    {func(r *api.JobRequest) { r.Model.Revision = "main" }, "request.model.model"},
		"a long revision":     {func(r *api.JobRequest) { r.Model = api.ModelSelect{Model: "m", Revision: strings.Repeat("x", 200)} }, "request.model.revision"},
		"sharding of nothing": {func(r *api.JobRequest) { r.Sharding = api.ShardingTensor }, "request.sharding"},
		"sharding":            {func(r *api.JobRequest) { r.Model.Model, r.Sharding = "m", "rows" }, "request.sharding"},
		"a label":             {func(r *api.JobRequest) { r.Labels = map[string]string{"": "x"} }, "request.labels"},
		"a label's value":     {func(r *api.JobRequest) { r.Labels = map[string]string{"k": "\n"} }, "request.labels.k"},
		"retries":             {func(r *api.JobRequest) { r.Retries = -1 }, "request.retries"},
		"attempts":            {func(r *api.JobRequest) { r.MaxAttempts = api.MaxStarts + 1 }, "request.max_attempts"},
		"output":              {func(r *api.JobRequest) { r.Output = "burn" }, "request.output"},
		"a port":              {func(r *api.JobRequest) { r.Publish = []api.Publish{{Port: 65536}} }, "request.publish"},
		"metrics of no path":  {func(r *api.JobRequest) { r.Metrics = &api.Metrics{Path: "metrics", Series: "x"} }, "request.metrics.path"},
		"metrics of labels":   {func(r *api.JobRequest) { r.Metrics = &api.Metrics{Path: "/m", Series: "x{a=\"b\"}"} }, "request.metrics.series"},
		"metrics of no port":  {func(r *api.JobRequest) { r.Metrics = &api.Metrics{Path: "/m", Series: "x"} }, "request.metrics"},
		"a probe's port":      {func(r *api.JobRequest) { r.Probes = &api.Probes{Startup: &api.Probe{}} }, "request.probes.startup.port"},
		"a probe of both":     {func(r *api.JobRequest) { r.Probes = &api.Probes{Liveness: &api.Probe{Port: 1, Command: []string{"x"}}} }, "request.probes.liveness.command"},
		"a probe by nothing":  {func(r *api.JobRequest) { r.Probes = &api.Probes{Liveness: &api.Probe{Command: []string{"A=1", "x"}}} }, "request.probes.liveness.command"},
		"a command's period": {func(r *api.JobRequest) {
			r.Probes = &api.Probes{Liveness: &api.Probe{Command: []string{"x"}, PeriodS: 0.1}}
		}, "request.probes.liveness.period_s"},
		"a port twice":          {func(r *api.JobRequest) { r.Publish = []api.Publish{{Port: 80}, {Port: 80}} }, "request.publish"},
		"a port both ways":      {func(r *api.JobRequest) { r.Publish = []api.Publish{{Port: 80}, {Port: 80, LAN: true}} }, ""},
		"ranks":                 {func(r *api.JobRequest) { r.Placement.Ranks = -1 }, "request.placement.ranks"},
		"ranks and a range":     {func(r *api.JobRequest) { r.Placement.MinNodes = 1 }, "request.placement.ranks"},
		"a range":               {func(r *api.JobRequest) { r.Placement = api.Placement{MinNodes: 3, MaxNodes: 2} }, "request.placement.min_nodes"},
		"ranks, and many":       {func(r *api.JobRequest) { r.Placement = api.Placement{Ranks: 3, Widest: true} }, "request.placement.widest"},
		"a backend":             {func(r *api.JobRequest) { r.Placement.Backend = "mpi" }, "request.placement.backend"},
		"a GPU":                 {func(r *api.JobRequest) { r.Placement.GPU = "half" }, "request.placement.gpu"},
		"memory":                {func(r *api.JobRequest) { r.Placement.MemoryBytes = -1 }, "request.placement.memory_bytes"},
		"shares":                {func(r *api.JobRequest) { r.Placement.ShareBy = "speed" }, "request.placement.per_node"},
		"shares by memory":      {func(r *api.JobRequest) { r.Placement.ShareBy = api.ShareByMemory }, ""},
		"a large mesh":          {func(r *api.JobRequest) { r.Placement = api.Placement{Ranks: 9, Backend: api.BackendJACCL} }, "request.placement.ranks"},
		"no node":               {func(r *api.JobRequest) { r.Placement.Nodes = []api.NodeID{"x"} }, "request.placement.nodes"},
		"a node twice":          {func(r *api.JobRequest) { r.Placement.Nodes = []api.NodeID{nodes[0], nodes[0]} }, "request.placement.nodes"},
		"more nodes than ranks": {func(r *api.JobRequest) { r.Placement.Ranks, r.Placement.Nodes = 1, nodes }, "request.placement.nodes"},
		"several ranks a node":  {func(r *api.JobRequest) { r.Placement.Ranks, r.Placement.RanksPerNode = 4, 2 }, ""},
		"fewer than one":        {func(r *api.JobRequest) { r.Placement.RanksPerNode = -1 }, "request.placement.ranks_per_node"},
		"too many a node":       {func(r *api.JobRequest) { r.Placement = api.Placement{RanksPerNode: 33} }, "request.placement.ranks_per_node"},
		"JACCL on several": {func(r *api.JobRequest) { r.Placement = api.Placement{RanksPerNode: 2, Backend: api.BackendJACCLRing} },
			"request.placement.ranks_per_node"},
		"a rest":                 {func(r *api.JobRequest) { r.Placement.Ranks, r.Placement.RanksPerNode = 3, 2 }, "request.placement.ranks"},
		"more nodes than needed": {func(r *api.JobRequest) { r.Placement = api.Placement{Ranks: 2, RanksPerNode: 2, Nodes: nodes} }, "request.placement.nodes"},
		"an excluded node": {func(r *api.JobRequest) { r.Placement.Nodes, r.Placement.ExcludedNodes = nodes, nodes[1:] },
			"request.placement.nodes"},
		"an excluded rank 0": {func(r *api.JobRequest) { r.Placement.Rank0, r.Placement.ExcludedNodes = nodes[1], nodes[1:] },
			"request.placement.rank0"},
		"a network":          {func(r *api.JobRequest) { r.Placement.Networks = words("") }, "request.placement.networks"},
		"no time":            {func(r *api.JobRequest) { r.Deadlines.RunS = s(0) }, "request.deadlines.run_s"},
		"no heartbeat":       {func(r *api.JobRequest) { r.Deadlines.HeartbeatS = s(0) }, "request.deadlines.heartbeat_s"},
		"no such remedy":     {func(r *api.JobRequest) { r.OnStall = "pray" }, "request.on_stall"},
		"no time to prepare": {func(r *api.JobRequest) { r.Deadlines.PreparingS = s(0) }, "request.deadlines.preparing_s"},
		"no number":          {func(r *api.JobRequest) { r.Deadlines.StartingS = s(math.NaN()) }, "request.deadlines.starting_s"},
		"a long time":        {func(r *api.JobRequest) { r.Deadlines.PlacingS = s(1e12) }, "request.deadlines.placing_s"},
		"no grace":           {func(r *api.JobRequest) { r.Deadlines.GraceS = s(0) }, ""},
		"a minus":            {func(r *api.JobRequest) { r.Deadlines.GraceS = s(-1) }, "request.deadlines.grace_s"},
	} {
		r := api.JobRequest{Program: api.Program{Command: words("python", "x.py")}, Placement: api.Placement{Ranks: 2}}
		test.change(&r)
		err := checkRequest(r)
		if test.field == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		e := api.AsError(err)
		if e == nil || e.Data.Subject != test.field || e.Data.Remedy == "" || e.Code != api.CodeInvalid || !strings.Contains(e.Message, test.field) {
			t.Errorf("%s: %+v, not about %s", name, e, test.field)
		}
	}
}

func nodeOf(seed string) api.NodeID {
	return api.NodeIDFromKey([]byte(strings.Repeat(seed, 32)))
}

func TestCheckEnvironment(t *testing.T) {
	p := api.Program{Variables: words("A", "B")}
	for name, test := range map[string]struct {
		values map[string]string
		lack   bool
		ok     bool
	}{
		"all":           {map[string]string{"A": "", "B": "x"}, false, true},
		"one is absent": {map[string]string{"A": ""}, false, false},
		"none":          {nil, false, false},
		"lost":          {nil, true, true},
		"half lost":     {map[string]string{"A": ""}, true, false},
		"one too many":  {map[string]string{"A": "", "B": "", "C": ""}, false, false},
		"a zero byte":   {map[string]string{"A": "\x00", "B": ""}, false, false},
		"too large":     {map[string]string{"A": strings.Repeat("x", 300<<10), "B": ""}, false, false},
	} {
		if err := checkEnvironment(p, test.values, test.lack); (err == nil) != test.ok {
			t.Errorf("%s: %v", name, err)
		} else if err != nil && api.AsError(err).Data.Subject != "environment" {
			t.Errorf("%s: %v is about %s", name, err, api.AsError(err).Data.Subject)
		}
	}
}
