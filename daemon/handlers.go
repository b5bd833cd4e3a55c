package daemon

import (
	"context"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/doctor"
	"fulmen/daemon/internal/methods"
	"fulmen/daemon/internal/rdma"
	"fulmen/daemon/internal/server"
)

// handlers are the methods that are built; the server has those of tokens and
// of state.
func (d *daemon) handlers(stop context.CancelCauseFunc) server.Handlers {
	all := server.Handlers{
		"daemon.info": server.Handle(d.info),
		"daemon.doctor": server.Handle(func(ctx context.Context, _ *server.Caller, p api.DaemonDoctorParams) (api.DaemonDoctorResult, error) {
			return d.doctor().Examine(ctx, p)
		}),
		"daemon.logs": server.Handle(func(_ context.Context, c *server.Caller, p api.DaemonLogsParams) (api.DaemonLogsResult, error) {
			return d.logs.Read(c, p)
		}),
		"daemon.start":   server.Handle(func(context.Context, *server.Caller, api.Empty) (api.Empty, error) { return api.Empty{}, nil }),
		"daemon.stop":    server.Handle(d.stopHandler(stop)),
		"daemon.restart": server.Handle(d.restartHandler(stop)),
		"event.audit":    server.Handle(d.eventAudit),
	}
	for _, of := range []server.Handlers{
		d.viewHandlers(),
		methods.Settings{Live: d.live, SaveName: d.records.SaveName, Rename: d.facts.Rename, Simulation: d.options.Simulation, Log: d.logs.Part("daemon")}.Handlers(),
		methods.Measure{Profiler: d.profiler, Ledger: d.ledger, Graph: d.graph.Build, Find: d.nodes.Find, Log: d.logs.Part("profile")}.Handlers(),
		methods.Cluster{
			Node: d.node, Roster: d.roster, Policy: d.policy, Nodes: d.nodes, Ledger: d.ledger, Clock: d.platform.Clock,
			Joined: func() { d.conditions.Clear(api.ReasonRemoved) }, Log: d.logs.Part("cluster"),
		}.Handlers(),
		methods.Jobs{Jobs: d.jobs, Attach: d.attach, Attended: d.attended, Ports: d.publisher, Log: d.logs.Part("job")}.Handlers(),
		methods.RDMA(rdma.Commands{
			Owner: d.changes, Requests: d.requests, Trips: d.trips, Ledger: d.ledger, Devices: d.cables, Graph: d.graph.Build, Find: d.nodes.Find, Name: d.nodes.Name,
		}, d.logs.Part("health")),
	} {
		maps.Copy(all, of)
	}
	return all
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

// scenario is the name of what is simulated; empty where nothing is.
func (d *daemon) scenario() string {
	if d.options.Simulation == nil {
		return ""
	}
	return d.options.Simulation.World.Name()
}

// doctor examines this daemon.
func (d *daemon) doctor() doctor.Doctor {
	examines := doctor.Doctor{
		Ledger: d.ledger, State: d.folders.State, Program: d.program, Worker: d.worker, Programs: d.trust, Facts: d.facts, Machine: d.platform.Facts,
		Capabilities: d.capabilities, Processes: d.platform.Processes, Name: d.nameOf, Log: d.logs.Part("daemon"),
		Graph: func() api.LinkListResult { return d.graph.Build().List() },
	}
	if d.platform.Name == "darwin" {
		examines.Second = doctor.AskSystemProfiler(d.platform.Clock)
	}
	return examines
}
