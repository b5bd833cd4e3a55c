package api

import "net/netip"

// RDMA is the value of an rdma document, named by its receptacle: what the
// Mac could do there, what is switched on, and the device if there is one.
type RDMA struct {
	// Receptacle is the socket's number, as in the document's name.
	Receptacle Receptacle `json:"receptacle"`
	// HardwareCapable says whether the port's hardware can.
	HardwareCapable *bool `json:"hardware_capable,omitempty"`
	// OSCapable says whether the system's version can.
	OSCapable *bool `json:"os_capable,omitempty"`
	// SwitchedOn says whether the Mac's one switch is on; it takes effect with a restart.
	SwitchedOn *bool `json:"switched_on,omitempty"`
	// Device is the RDMA device of the port; absent where there is none.
	Device *RDMADevice `json:"device,omitempty"`
	// ProbesSinceBoot counts the tests that opened the device since the system started.
	ProbesSinceBoot int `json:"probes_since_boot"`
}

// RDMADevice is a device as librdma lists it. Reading it opens no protection
// domain and no queue pair.
type RDMADevice struct {
	// Name is the device's, such as rdma_en5.
	Name string `json:"name"`
	// Interface is the network interface beside it, such as en5.
	Interface string `json:"interface,omitempty"`
	// PortState is the state of its port.
	PortState RDMAPortState `json:"port_state,omitempty"`
	// SpeedBitsPerS is width times lane speed as the device states them.
	SpeedBitsPerS *int64 `json:"speed_bits_per_s,omitempty"`
	// MTUBytes is the active path MTU.
	MTUBytes *int64 `json:"mtu_bytes,omitempty"`
	// GIDs are the entries of the port's table that are set; absent where not read.
	GIDs []GID `json:"gids,omitzero"`
	// Limits are what the device can have at once, of all programs; absent where it does not tell.
	Limits *RDMALimits `json:"limits,omitempty"`
}

// RDMALimits are how many of each a device can have at once.
type RDMALimits struct {
	// QueuePairs are its queue pairs: JACCL takes one for each rank at the other end.
	QueuePairs int `json:"queue_pairs"`
	// CompletionQueues are its completion queues.
	CompletionQueues int `json:"completion_queues"`
	// MemoryRegions are its registered memory regions.
	MemoryRegions int `json:"memory_regions"`
	// ProtectionDomains are its protection domains.
	ProtectionDomains int `json:"protection_domains"`
}

// GID is one entry of a port's table of addresses.
type GID struct {
	// Index is its place in the table.
	Index int `json:"index"`
	// Address is the 128-bit GID as an IPv6 address; ::ffff:a.b.c.d is the IPv4-mapped form that JACCL needs.
	Address netip.Addr `json:"address"`
}

// RDMAPortState is the state of an RDMA port, by the names of the verbs API.
type RDMAPortState string

const (
	// RDMAPortDown has no partner: RDMA must be on at both ends.
	RDMAPortDown RDMAPortState = "down"
	// RDMAPortInit is being set up.
	RDMAPortInit RDMAPortState = "init"
	// RDMAPortArmed is set up and waits for traffic.
	RDMAPortArmed RDMAPortState = "armed"
	// RDMAPortActive can carry traffic.
	RDMAPortActive RDMAPortState = "active"
)

// Values lists the states.
func (RDMAPortState) Values() []string {
	return words(RDMAPortDown, RDMAPortInit, RDMAPortArmed, RDMAPortActive)
}

// Valid reports whether the state belongs to this version.
func (s RDMAPortState) Valid() bool { return known(s) }
