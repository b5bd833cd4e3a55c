package methods

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/jobfile"
	"fulmen/native"
	"fulmen/native/waker"
)

// Instances are the methods about instances of models, each of which is a kept job, or several.
type Instances struct {
	Jobs  Jobs
	Find  func(api.NodeRef) (api.NodeID, error)
	Nodes func() int
	// Endpoint is where this Mac answers for all instances.
	Endpoint string
	// Engines is the folder of engines that this Mac's owner has.
	Engines string
	// Rolls keeps what is rolled.
	Rolls interface {
		Load() ([]Roll, error)
		Save([]Roll) error
	}
	Clock native.Clock
	Log   *slog.Logger

	began  time.Duration // on Clock.Boot
	mu     sync.Mutex
	rolled map[instanceKey]api.InstanceApplyParams
	wake   waker.Waker
	tokens *tokens
}

// NewInstances completes the methods, which go on with what was rolled.
func NewInstances(d *Instances) *Instances {
	d.rolled, d.wake, d.tokens, d.began = map[instanceKey]api.InstanceApplyParams{}, waker.New(), newTokens(d.Clock), d.Clock.Boot()
	all, err := d.Rolls.Load()
	if err != nil {
		d.Log.Error("which replicas were to be replaced could not be read", "err", err)
	}
	for _, one := range all {
		d.rolled[instanceKey{one.Principal, one.Params.Instance.Name}] = one.Params
	}
	d.wake.Wake()
	return d
}

// instanceKey is an instance of a person's.
type instanceKey struct {
	by   api.Principal
	name string
}

// Handlers are the methods.
func (d *Instances) Handlers() server.Handlers {
	return server.Handlers{
		"instance.apply": server.Handle(d.apply),
		"instance.list": server.Handle(func(ctx context.Context, c *server.Caller, _ api.Empty) (api.InstanceListResult, error) {
			all, metrics, err := d.look(ctx, jobCaller(c))
			if err == nil {
				d.tokens.add(ctx, all, metrics)
			}
			return api.InstanceListResult{Instances: all, Endpoint: d.Endpoint}, err
		}),
		"instance.delete": server.Handle(d.delete),
	}
}

// delete ends the jobs of an instance, the newest first.
func (d *Instances) delete(ctx context.Context, c *server.Caller, p api.InstanceSelect) (api.Empty, error) {
	d.Log.Info("asked to delete an instance", "uid", c.UID)
	caller := jobCaller(c)
	free, err := d.hold(ctx, caller, p.Name)
	if err != nil {
		return api.Empty{}, err
	}
	defer free()
	d.unroll(instanceKey{caller.Principal, p.Name})
	if err := d.shrink(ctx, caller, p.Name, 1); err != nil {
		return api.Empty{}, err
	}
	return api.Empty{}, d.Jobs.Jobs.Undeclare(ctx, caller, p.Name)
}

// hold waits until nobody else changes an instance.
func (d *Instances) hold(ctx context.Context, c job.Caller, name string) (free func(), err error) {
	return d.Jobs.Jobs.Hold(ctx, c, "instance "+name)
}

// shrink ends replicas, the newest first, until so many are left.
func (d *Instances) shrink(ctx context.Context, c job.Caller, name string, to int) error {
	for number := api.MaxReplicas; number > to; number-- {
		if err := d.Jobs.Jobs.Undeclare(ctx, c, replicaName(name, number)); err != nil && !errors.Is(err, api.ReasonNoSuchJob) {
			return err
		}
	}
	return nil
}

// apply declares an instance. Replicas that are too many are ended at once; those that lack are
// made, and those that are another replaced, one after the other by Run.
func (d *Instances) apply(ctx context.Context, c *server.Caller, p api.InstanceApplyParams) (api.InstanceApplyResult, error) {
	spec := &p.Instance
	switch {
	case spec.Model.Model == "":
		return api.InstanceApplyResult{}, api.NewError(api.ReasonMissingField, "instance.model.model")
	case spec.Replicas < 0 || spec.Replicas > api.MaxReplicas:
		return api.InstanceApplyResult{}, api.Errorf(api.ReasonBadValue, "instance.replicas", "instance.replicas: %d is out of range.", spec.Replicas).
			WithRemedy(fmt.Sprintf("Use 1 to %d, or 0 for as many as there are.", api.MaxReplicas))
	case spec.Replicas > 1 && len(spec.Nodes) > 0:
		return api.InstanceApplyResult{}, api.Errorf(api.ReasonBadValue, "instance.nodes", "instance.nodes: several replicas cannot all use the same Macs.").
			WithRemedy("Name those that must not be used (excluded_nodes, --exclude), or one replica.")
	case strings.Contains(spec.Name, "/"):
		return api.InstanceApplyResult{}, api.Errorf(api.ReasonBadValue, "instance.name", "instance.name: %.80q has a slash, after which replicas have their numbers.", spec.Name).
			WithRemedy("Use another name.")
	}
	spec.Name, spec.Engine, spec.Sharding = cmp.Or(spec.Name, path.Base(spec.Model.Model)), cmp.Or(spec.Engine, api.DefaultEngine), cmp.Or(spec.Sharding, api.ShardingTensor)
	caller := jobCaller(c)
	free, err := d.hold(ctx, caller, spec.Name)
	if err != nil {
		return api.InstanceApplyResult{}, err
	}
	defer free()
	all, err := d.list(ctx, caller)
	if err != nil {
		return api.InstanceApplyResult{}, err
	}
	port, err := d.port(all, *spec, 1)
	if err != nil {
		return api.InstanceApplyResult{}, err
	}
	result := api.InstanceApplyResult{Name: spec.Name, URL: urlOf(port), Endpoint: d.Endpoint}
	request, err := d.request(*spec, 1, port)
	if err != nil {
		return result, err
	}
	if result.JobApplyResult, err = d.Jobs.jobApply(ctx, c, api.JobApplyParams{Request: request, Environment: p.Environment, Replace: p.Replace, DryRun: p.DryRun}); err != nil {
		return result, err
	}
	are := len(replicasOf(all, spec.Name))
	wanted := max(1, cmp.Or(spec.Replicas, are))
	if are > 0 && wanted != are {
		result.Changes = append(result.Changes, api.FieldChange{Field: "replicas", From: strconv.Itoa(are), To: strconv.Itoa(wanted)})
		if result.Outcome == api.ApplyUnchanged {
			result.Outcome = api.ApplyChanged
		}
	}
	if p.DryRun {
		return result, nil
	}
	d.unroll(instanceKey{caller.Principal, spec.Name})
	if err := d.shrink(ctx, caller, spec.Name, wanted); err != nil {
		return result, err
	}
	if spec.Replicas = wanted; wanted > 1 {
		d.roll(instanceKey{caller.Principal, spec.Name}, p)
	}
	return result, nil
}

// request is the job of an instance, or of another replica of it, at a port.
func (d *Instances) request(spec api.InstanceSpec, number, port int) (r api.JobRequest, err error) {
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
	if number > 1 {
		r.Name, r.Labels[api.LabelReplica] = replicaName(spec.Name, number), strconv.Itoa(number)
	}
	jobfile.Serve(&r, port, spec.Sharding)
	return r, nil
}

const (
	// firstPort is where a free port is looked for from, and portCount among how many.
	firstPort, portCount = 8080, 1000
)

// port is where a replica of an instance answers: as it says, where it does already, or where
// nothing is, which of another replica than the first is after that one's.
func (d *Instances) port(all []api.Instance, spec api.InstanceSpec, number int) (int, error) {
	if spec.Port != 0 && number == 1 {
		return spec.Port, nil
	}
	taken, from := map[int]bool{spec.Port: true}, cmp.Or(spec.Port, firstPort)
	for _, one := range all {
		for _, r := range replicasOf(all, one.Name) {
			if taken[r.Port] = true; one.Name == spec.Name && r.Replica == number {
				return r.Port, nil
			}
			if one.Name == spec.Name && r.Replica == 1 {
				from = r.Port
			}
		}
	}
	for port := from; port < min(from+portCount, 1<<16); port++ {
		if !taken[port] && d.Jobs.Ports.Allows([]api.Publish{{Port: port}}) == nil {
			return port, nil
		}
	}
	return 0, api.Errorf(api.ReasonPortTaken, "port", "No port from %d on is free.", from).WithRemedy("Name one.")
}

func urlOf(port int) string { return fmt.Sprintf("http://127.0.0.1:%d", port) }

// list is the caller's instances.
func (d *Instances) list(ctx context.Context, c job.Caller) ([]api.Instance, error) {
	all, _, err := d.look(ctx, c)
	return all, err
}

// look is the caller's instances, of each job the newest of its name, and where each has its metrics.
func (d *Instances) look(ctx context.Context, c job.Caller) ([]api.Instance, map[api.JobID]*api.Metrics, error) {
	jobs, err := d.Jobs.Jobs.List(ctx, c, api.JobListParams{Ended: true, Mine: true})
	if err != nil {
		return nil, nil, err
	}
	metrics := map[api.JobID]*api.Metrics{}
	all := map[string]api.Instance{}
	others := map[string]map[int]api.InstanceReplica{}
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
		metrics[j.Job] = spec.Metrics
		port := spec.Publish[0].Port
		one := api.InstanceReplica{Replica: 1, InstanceJob: api.InstanceJob{URL: urlOf(port), Port: port, Job: j.Job, Phase: j.Phase, Reason: j.Reason, Message: j.Message, ReadyAt: j.ReadyAt, Attempt: j.Attempt, Nodes: j.Nodes}}
		for _, a := range document.Attempts {
			if !a.EndedAt.IsZero() && a.Reason != "" && (a.Attempt < j.Attempt || j.Phase.Ended() || j.Phase == api.JobBackoff) {
				one.LastEnd = &api.Cause{Reason: a.Reason, Message: a.Message}
			}
		}
		if number, err := strconv.Atoi(spec.Labels[api.LabelReplica]); err == nil {
			name := strings.TrimSuffix(j.Name, replicaName("", number))
			if others[name] == nil {
				others[name] = map[int]api.InstanceReplica{}
			}
			one.Replica = number
			others[name][number] = one
			continue
		}
		all[j.Name] = api.Instance{
			Name: j.Name, Model: spec.Model, Engine: spec.Labels[api.LabelEngine], Sharding: spec.Sharding, InstanceJob: one.InstanceJob, Replicas: []api.InstanceReplica{one},
		}
	}
	out := []api.Instance{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		one := all[name]
		for number := 2; number <= api.MaxReplicas; number++ {
			if r, isThere := others[name][number]; isThere {
				one.Replicas = append(one.Replicas, r)
			}
		}
		if len(one.Replicas) == 1 {
			one.Replicas = nil
		}
		out = append(out, one)
	}
	return out, metrics, nil
}
