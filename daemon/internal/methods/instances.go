package methods

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/jobfile"
)

// Instances are the methods about instances of models, each of which is a kept job.
type Instances struct {
	Jobs  Jobs
	Find  func(api.NodeRef) (api.NodeID, error)
	Nodes func() int
	// Endpoint is where this Mac answers for all instances.
	Endpoint string
	// Engines is the folder of engines that this Mac's owner has.
	Engines string
	Log     *slog.Logger
}

// Handlers are the methods.
func (d Instances) Handlers() server.Handlers {
	return server.Handlers{
		"instance.apply": server.Handle(d.apply),
		"instance.list": server.Handle(func(ctx context.Context, c *server.Caller, _ api.Empty) (api.InstanceListResult, error) {
			all, err := d.list(ctx, jobCaller(c))
			return api.InstanceListResult{Instances: all, Endpoint: d.Endpoint}, err
		}),
		"instance.delete": server.Handle(func(ctx context.Context, c *server.Caller, p api.InstanceSelect) (api.Empty, error) {
			d.Log.Info("asked to delete an instance", "uid", c.UID)
			return api.Empty{}, d.Jobs.Jobs.Undeclare(ctx, jobCaller(c), p.Name)
		}),
	}
}

// apply declares an instance.
func (d Instances) apply(ctx context.Context, c *server.Caller, p api.InstanceApplyParams) (api.InstanceApplyResult, error) {
	spec := p.Instance
	if spec.Model.Model == "" {
		return api.InstanceApplyResult{}, api.NewError(api.ReasonMissingField, "instance.model.model")
	}
	spec.Name, spec.Engine, spec.Sharding = cmp.Or(spec.Name, path.Base(spec.Model.Model)), cmp.Or(spec.Engine, api.DefaultEngine), cmp.Or(spec.Sharding, api.ShardingTensor)
	request, err := d.request(spec)
	if err != nil {
		return api.InstanceApplyResult{}, err
	}
	port, err := d.port(ctx, jobCaller(c), spec)
	if err != nil {
		return api.InstanceApplyResult{}, err
	}
	jobfile.Serve(&request, port, spec.Sharding)
	applied, err := d.Jobs.jobApply(ctx, c, api.JobApplyParams{Request: request, Environment: p.Environment, Replace: p.Replace, DryRun: p.DryRun})
	return api.InstanceApplyResult{JobApplyResult: applied, Name: spec.Name, URL: urlOf(port), Endpoint: d.Endpoint}, err
}

// request is the job of an instance, but for its port.
func (d Instances) request(spec api.InstanceSpec) (r api.JobRequest, err error) {
	var engine api.JobRequest
	if spec.EngineFile != "" {
		engine, err = jobfile.ParseEngine(spec.Engine+".toml", spec.EngineFile)
	} else {
		engine, err = jobfile.Engine(spec.Engine, d.Engines)
	}
	if err != nil {
		return r, jobfile.Explain(err, "is not an engine")
	}
	r = jobfile.Instance(spec, engine)
	if p := &r.Placement; p.Ranks == 0 && p.MaxNodes == 0 {
		p.MaxNodes = max(p.MinNodes, d.Nodes())
	}
	for _, one := range []struct {
		refs []api.NodeRef
		to   *[]api.NodeID
	}{{spec.Nodes, &r.Placement.Nodes}, {spec.ExcludedNodes, &r.Placement.ExcludedNodes}} {
		for _, ref := range one.refs {
			node, err := d.Find(ref)
			if err != nil {
				return r, err
			}
			*one.to = append(*one.to, node)
		}
	}
	return r, nil
}

const (
	// firstPort is where a free port is looked for from, lastPort up to where.
	firstPort = 8080
	lastPort  = 9079
)

// port is where an instance answers: as it says, where it does already, or where nothing is.
func (d Instances) port(ctx context.Context, c job.Caller, spec api.InstanceSpec) (int, error) {
	if spec.Port != 0 {
		return spec.Port, nil
	}
	all, err := d.list(ctx, c)
	if err != nil {
		return 0, err
	}
	for _, one := range all {
		if one.Name == spec.Name && one.Port != 0 {
			return one.Port, nil
		}
	}
	for port := firstPort; port <= lastPort; port++ {
		isTaken := slices.ContainsFunc(all, func(one api.Instance) bool { return one.Port == port })
		if !isTaken && d.Jobs.Ports.Allows([]api.Publish{{Port: port}}) == nil {
			return port, nil
		}
	}
	return 0, api.Errorf(api.ReasonPortTaken, "port", "No port from %d to %d is free.", firstPort, lastPort).WithRemedy("Name one.")
}

func urlOf(port int) string { return fmt.Sprintf("http://127.0.0.1:%d", port) }

// list is the caller's instances, the newest job of each name.
func (d Instances) list(ctx context.Context, c job.Caller) ([]api.Instance, error) {
	jobs, err := d.Jobs.Jobs.List(ctx, c, api.JobListParams{Ended: true, Mine: true})
	if err != nil {
		return nil, err
	}
	out := []api.Instance{}
	seen := map[string]bool{}
	for _, j := range jobs.Jobs {
		if !j.Declared || seen[j.Name] {
			continue
		}
		seen[j.Name] = true
		got, err := d.Jobs.Jobs.Get(ctx, c, api.JobSelect{Job: j.Job})
		var document api.Job
		var spec api.JobSpec
		if err != nil || got.Job.Decode(&document) != nil || json.Unmarshal(document.Spec, &spec) != nil || spec.Labels[api.LabelEngine] == "" || len(spec.Publish) == 0 {
			continue // it has just been deleted, or is another job
		}
		one := api.Instance{
			Name: j.Name, Model: spec.Model, Engine: spec.Labels[api.LabelEngine], Sharding: spec.Sharding, URL: urlOf(spec.Publish[0].Port), Port: spec.Publish[0].Port,
			Job: j.Job, Phase: j.Phase, Reason: j.Reason, Message: j.Message, ReadyAt: j.ReadyAt, Attempt: j.Attempt, Nodes: j.Nodes,
		}
		for _, a := range document.Attempts {
			if !a.EndedAt.IsZero() && a.Reason != "" && (a.Attempt < j.Attempt || j.Phase.Ended() || j.Phase == api.JobBackoff) {
				one.LastEnd = &api.Cause{Reason: a.Reason, Message: a.Message}
			}
		}
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b api.Instance) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}
