package config

import (
	"log/slog"
	"net/netip"
	"time"
)

// Config is a complete configuration: what the file says, and the defaults for
// the rest. It is a value; nobody changes one that is in force.
type Config struct {
	API      API
	Endpoint Endpoint
	Peers    Peers
	Network  Network
	Log      Log
	Times    Times
	Measure  Measure
	Limits   Limits
	Models   Models
	Paths    Paths
}

// Endpoint is where this Mac answers for all services of the cluster.
type Endpoint struct {
	// Port is its port; 0 = any that is free.
	Port int
	// Networks are those from which it takes connections, beside this Mac.
	Networks []netip.Prefix
	// Hosts are names of this Mac by which it may be asked.
	Hosts []string
	// Origins are pages that may ask.
	Origins []string
	// Wait is how long a request waits for a service that is not ready.
	Wait time.Duration
}

// API is the local API.
type API struct {
	// Port on 127.0.0.1; 0 = any that is free.
	Port int
}

// Peers is how other nodes are reached.
type Peers struct {
	// Port where peers connect; 0 = any that is free.
	Port int
	// Addresses are HOST or HOST:PORT of nodes that discovery does not find.
	Addresses []string
}

// Network is what this node thinks of its networks.
type Network struct {
	// Trusted are networks on which the unencrypted traffic of jobs may go.
	Trusted []netip.Prefix
}

// Log is what is written to the log.
type Log struct {
	// Level is the least that is written.
	Level slog.Level
	// Levels are those of single packages that have one of their own.
	Levels map[string]slog.Level
}

// LevelOf is the least that is written for a package.
func (l Log) LevelOf(pkg string) slog.Level {
	if level, ok := l.Levels[pkg]; ok {
		return level
	}
	return l.Level
}

// Times are how long things last and wait.
type Times struct {
	Lease, LeaseRenewal time.Duration
	Beat, BeatLost      time.Duration
	Preflight           time.Duration
	GPUWait             time.Duration
	Preparing, Starting time.Duration
	Handshake           time.Duration
	Grace, FailedGrace  time.Duration
	Drain               time.Duration
}

// Measure says how old measurements may be.
type Measure struct {
	GPUTTL, SocketTTL, RDMATTL time.Duration
}

// PathTTL is how old measurements of paths may be.
func (m Measure) PathTTL() (socket, rdma time.Duration) { return m.SocketTTL, m.RDMATTL }

// Limits bound what the daemon spends.
type Limits struct {
	// Clients is the most connections of clients at once.
	Clients int
	// OutboxBytes is the most that waits for one subscription of a client that reads slowly.
	OutboxBytes int
	// DatabaseBytes is the size that the database may reach.
	DatabaseBytes int
	// LogBytes is the size at which the log is begun anew, the old one kept once.
	LogBytes int
}

// Models is where models are looked for.
type Models struct {
	// HubCache is Hugging Face's cache; empty = each account's own.
	HubCache string
	// Python has huggingface_hub; empty = Fulmen makes an environment.
	Python string
	// Folders are beside those of the programs that are known.
	Folders []string
}

// Paths are places that are not where they are by default; empty = there.
type Paths struct {
	// State is the folder of the key, the database and the jobs.
	State string
	// Logs is the folder of the daemon's log.
	Logs string
	// Worker is the program that measures.
	Worker string
}
