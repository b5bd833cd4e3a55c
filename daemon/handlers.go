package daemon

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/config"
	"fulmen/daemon/internal/doctor"
	"fulmen/daemon/internal/profile"
	"fulmen/daemon/internal/server"
)

// handlers are the methods that are built; the server has those of tokens and
// of state.
func (d *daemon) handlers(stop context.CancelCauseFunc) server.Handlers {
	all := server.Handlers{
		"daemon.info":       server.Handle(d.info),
		"daemon.config":     server.Handle(d.config),
		"daemon.set_config": server.Handle(d.setConfig),
		"daemon.doctor": server.Handle(func(ctx context.Context, _ *server.Caller, p api.DaemonDoctorParams) (api.DaemonDoctorResult, error) {
			return d.doctor().Examine(ctx, p)
		}),
		"daemon.simulate": server.Handle(d.simulate),
		"daemon.logs": server.Handle(func(_ context.Context, c *server.Caller, p api.DaemonLogsParams) (api.DaemonLogsResult, error) {
			return d.logs.Read(c, p)
		}),
		"daemon.start":   server.Handle(func(context.Context, *server.Caller, api.Empty) (api.Empty, error) { return api.Empty{}, nil }),
		"daemon.stop":    server.Handle(d.stopHandler(stop)),
		"daemon.restart": server.Handle(d.restartHandler(stop)),
		"node.rename":    server.Handle(d.nodeRename),
		"event.audit":    server.Handle(d.eventAudit),
	}
	maps.Copy(all, d.viewHandlers())
	maps.Copy(all, d.measureHandlers())
	maps.Copy(all, d.clusterHandlers())
	maps.Copy(all, d.jobHandlers())
	maps.Copy(all, d.rdmaHandlers())
	return all
}

// invalid refuses a field, with a message that says what to write.
func invalid(field, format string, args ...any) error {
	e := api.Errorf(api.ReasonBadValue, field, format, args...)
	e.Data.Remedy = ""
	return e
}

// caller is who asks, for the owners.
func (d *daemon) caller(c *server.Caller) profile.Caller {
	return profile.Caller{
		Principal: c.Principal(),
		Admin:     c.Class() == api.ClassAdmin,
	}
}

func (d *daemon) info(_ context.Context, c *server.Caller, _ api.Empty) (api.DaemonInfoResult, error) {
	result := api.DaemonInfoResult{
		Node: d.identity.Node, Cluster: d.roster.Cluster(), Version: d.options.Version, GoVersion: runtime.Version(),
		Protocol: api.Protocol, Platform: api.Platform(runtime.GOOS), Mode: d.folders.Mode, PID: os.Getpid(),
		StartedAt: api.TimeOf(d.started), APIURL: d.address.URL, Socket: d.address.Socket, Activated: d.options.Sockets.Len() > 0, StateFolder: d.folders.State, Scenario: d.scenario(),
		PeerPort: d.node.Port(),
		Class:    c.Class(), User: server.UserName(c.UID),
	}
	for feature, capability := range d.capabilities {
		result.Features = append(result.Features, api.FeatureInfo{
			Feature: string(feature), Supported: capability.Supported,
			Reason: api.Reason(capability.Reason.Key()), Message: capability.Reason.Detail(),
		})
	}
	slices.SortFunc(result.Features, func(a, b api.FeatureInfo) int { return strings.Compare(a.Feature, b.Feature) })
	return result, nil
}

func (d *daemon) config(context.Context, *server.Caller, api.Empty) (api.DaemonConfigResult, error) {
	return d.live.Listing(), nil
}

func (d *daemon) setConfig(_ context.Context, c *server.Caller, p api.DaemonSetConfigParams) (api.Empty, error) {
	var changes []config.Change
	for key, raw := range p.Set {
		var value any
		if err := json.Unmarshal(raw, &value); err != nil {
			return api.Empty{}, api.Errorf(api.ReasonBadValue, key, "the value of %s is not JSON", key)
		}
		changes = append(changes, config.Change{Key: key, Value: value})
	}
	for _, key := range p.Unset {
		changes = append(changes, config.Change{Key: key})
	}
	slices.SortFunc(changes, func(a, b config.Change) int { return strings.Compare(a.Key, b.Key) })
	if err := d.live.Set(changes...); err != nil {
		return api.Empty{}, err
	}
	d.logs.Part("daemon").Info("configuration changed", "uid", c.UID, "keys", len(changes))
	return api.Empty{}, nil
}

// scenario is the name of what is simulated; empty where nothing is.
func (d *daemon) scenario() string {
	if d.options.Simulation == nil {
		return ""
	}
	return d.options.Simulation.World.Name()
}

// simulate changes the simulated cluster.
func (d *daemon) simulate(_ context.Context, c *server.Caller, p api.DaemonSimulateParams) (api.Empty, error) {
	if d.options.Simulation == nil {
		return api.Empty{}, api.NewError(api.ReasonNotSimulated, "")
	}
	change, err := d.options.Simulation.Change(p.Line)
	if err != nil {
		return api.Empty{}, err
	}
	d.logs.Part("daemon").Info("the simulated cluster was changed", "uid", c.UID, "change", change)
	return api.Empty{}, nil
}

// doctor examines this daemon.
func (d *daemon) doctor() doctor.Doctor {
	examines := doctor.Doctor{
		Ledger: d.ledger, State: d.folders.State, Program: d.program, Worker: d.worker, Programs: d.trust, Facts: d.facts, Machine: d.platform.Facts,
		Capabilities: d.capabilities, Processes: d.platform.Processes, Name: d.called, Log: d.logs.Part("daemon"),
		Graph: func() api.LinkListResult { return d.graph.Build().List() },
	}
	if d.platform.Name == "darwin" {
		examines.Second = doctor.AskSystemProfiler(d.platform.Clock)
	}
	return examines
}
