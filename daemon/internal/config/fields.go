package config

import (
	"time"

	"fulmen/daemon/api"
)

// Packages are the parts of the daemon whose log can have a level of its own.
func Packages() []string {
	return []string{"audit", "cluster", "config", "daemon", "doctor", "event", "facts", "gate", "grant", "health", "home", "job", "ledger", "lifecycle", "logs", "methods",
		"metrics", "native", "peer", "placement", "proc", "profile", "rank", "rdma", "relay", "server", "simulate", "storage", "store", "topology", "uninstall", "view"}
}

// Fields are all keys, in the order of the documentation.
func Fields() []Field {
	const (
		day     = 24 * time.Hour
		shortly = 10 * time.Millisecond
	)
	all := []Field{
		number("api.port", api.APIPort, 0, 65535, func(c *Config) *int { return &c.API.Port },
			"TCP port of the local API, on 127.0.0.1. If it is taken the next free one is used; 0 is any free one. Scripts find the one in use in api.json.").restart(),

		number("peers.port", api.PeerPort, 0, 65535, func(c *Config) *int { return &c.Peers.Port },
			"TCP port on which other nodes connect. If it is taken the next free one is used; 0 is any free one.").restart(),
		addresses("peers.addresses", func(c *Config) *[]string { return &c.Peers.Addresses },
			"Nodes that cannot be discovered, for instance behind a router."),

		networks("network.trusted", func(c *Config) *prefixes { return (*prefixes)(&c.Network.Trusted) },
			"Networks other than Thunderbolt on which traffic of jobs may go unencrypted, as MLX's ring does."),

		level("log.level", func(c *Config) *levelOf { return &levelOf{config: c} },
			"The least that is written to the log."),
	}
	for _, pkg := range Packages() {
		all = append(all, level("log.levels."+pkg, func(c *Config) *levelOf { return &levelOf{c, pkg} },
			"The same for one part of the daemon."))
	}
	return append(all,
		duration("times.lease", api.DefaultLease, time.Second, time.Hour, func(c *Config) *time.Duration { return &c.Times.Lease },
			"How long the ranks of a job live without their lease being renewed. At least three times lease_renewal."),
		duration("times.lease_renewal", api.DefaultLeaseRenewal, shortly, time.Hour, func(c *Config) *time.Duration { return &c.Times.LeaseRenewal },
			"How often leases are renewed."),
		duration("times.beat", api.DefaultBeat, shortly, time.Minute, func(c *Config) *time.Duration { return &c.Times.Beat },
			"How often the nodes of one job beat each other."),
		duration("times.beat_lost", api.DefaultBeatLost, shortly, 10*time.Minute, func(c *Config) *time.Duration { return &c.Times.BeatLost },
			"The silence after which such a node is lost. At least twice beat."),
		duration("times.preflight", api.DefaultPreflight, shortly, time.Hour, func(c *Config) *time.Duration { return &c.Times.Preflight },
			"How long the check of all nodes may take before a job starts."),
		duration("times.gpu_wait", api.DefaultGPUWait, 0, day, func(c *Config) *time.Duration { return &c.Times.GPUWait },
			"How long a job waits for other programs that use the GPU; then it starts beside them, with a warning."),
		duration("times.preparing", api.DefaultPreparing, shortly, day, func(c *Config) *time.Duration { return &c.Times.Preparing },
			"How long copying a job's folder and preparing its Macs may take, until all of them are ready."),
		duration("times.starting", api.DefaultStarting, shortly, day, func(c *Config) *time.Duration { return &c.Times.Starting },
			"How long a job's processes may take to be started once all is prepared."),
		duration("times.handshake", api.DefaultHandshake, shortly, day, func(c *Config) *time.Duration { return &c.Times.Handshake },
			"How long the ranks may take to join each other."),
		duration("times.grace", api.DefaultGrace, 0, time.Hour, func(c *Config) *time.Duration { return &c.Times.Grace },
			"What ranks get between SIGTERM and SIGKILL when a person stops the job."),
		duration("times.failed_grace", api.DefaultFailedGrace, 0, time.Hour, func(c *Config) *time.Duration { return &c.Times.FailedGrace },
			"The same for the others when one rank failed."),
		duration("times.drain", api.DefaultDrain, 0, 10*time.Minute, func(c *Config) *time.Duration { return &c.Times.Drain },
			"What the daemon gives its clients and workers when it stops."),

		duration("measure.gpu_ttl", api.DefaultGPUTTL, time.Second, 365*day, func(c *Config) *time.Duration { return &c.Measure.GPUTTL },
			"How old a GPU's measurement may be when somebody looks; an older one is made again."),
		duration("measure.socket_ttl", api.DefaultSocketTTL, time.Second, 365*day, func(c *Config) *time.Duration { return &c.Measure.SocketTTL },
			"The same for a path over sockets."),
		duration("measure.rdma_ttl", api.DefaultRDMATTL, time.Second, 365*day, func(c *Config) *time.Duration { return &c.Measure.RDMATTL },
			"The age from which RDMA's numbers are shown as old. They are not made again by themselves."),

		number("limits.clients", 2000, 1, 100_000, func(c *Config) *int { return &c.Limits.Clients },
			"The most connections of clients at once."),
		number("limits.outbox_bytes", 4<<20, 2*api.MaxMessageBytes, 1<<30, func(c *Config) *int { return &c.Limits.OutboxBytes },
			"The most that waits for one subscription whose client reads slowly, before changes are dropped and it is told."),
		number("limits.database_bytes", 1<<30, 1<<20, 64<<30, func(c *Config) *int { return &c.Limits.DatabaseBytes },
			"The size that the database may reach.").restart(),
		number("limits.log_bytes", 16<<20, 64<<10, 1<<30, func(c *Config) *int { return &c.Limits.LogBytes },
			"The size at which the daemon's log is begun anew; the one before is kept."),

		location("paths.state", func(c *Config) *string { return &c.Paths.State },
			"Folder of the node's key, the database and the jobs. Empty is the system's usual place.").restart(),
		location("paths.logs", func(c *Config) *string { return &c.Paths.Logs },
			"Folder of the daemon's log. Empty is the system's usual place.").restart(),
		location("paths.worker", func(c *Config) *string { return &c.Paths.Worker },
			"The program fulmen-rank, which measures. Empty is the one beside fulmend."),
	)
}
