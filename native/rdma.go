package native

import "net/netip"

// RDMASwitch is the machine-wide switch for RDMA over Thunderbolt.
type RDMASwitch string

// The positions of the switch.
const (
	RDMAOff            RDMASwitch = "off"
	RDMAOnAfterRestart RDMASwitch = "on_after_restart" // set, and the system not yet restarted
	RDMAOn             RDMASwitch = "on"
)

// RDMAPortState is the state of a device's port, in the terms of the verbs.
type RDMAPortState string

// The states of a port.
const (
	RDMAPortDown   RDMAPortState = "down"
	RDMAPortInit   RDMAPortState = "init"
	RDMAPortArmed  RDMAPortState = "armed"
	RDMAPortActive RDMAPortState = "active"
)

// RDMA is what the machine can do and what it offers. Reading it never opens a
// protection domain or queue pair: Apple's driver leaks them.
type RDMA struct {
	// HardwareCapable is true when the machine has ports that could carry RDMA.
	HardwareCapable *bool `json:"hardware_capable,omitzero"`
	// OSCapable is true when this version of the system has the driver.
	OSCapable *bool        `json:"os_capable,omitzero"`
	Switch    RDMASwitch   `json:"switch,omitzero"`
	Devices   []RDMADevice `json:"devices,omitzero"`

	Unknown Reasons `json:"unknown,omitzero"`
}

// RDMADevice is one RDMA device, which is one Thunderbolt port's.
type RDMADevice struct {
	Name      string        `json:"name"`                // "rdma_en5"
	Interface string        `json:"interface,omitzero"`  // "en5"
	PortState RDMAPortState `json:"port_state,omitzero"` // active only when both ends have it on
	GIDs      []GID         `json:"gids,omitzero"`
	// SpeedBitsPerS is width times lane speed as the device states them, and
	// MTUBytes its active path MTU.
	SpeedBitsPerS *int64 `json:"speed_bits_per_s,omitzero"`
	MTUBytes      *int64 `json:"mtu_bytes,omitzero"`
	// Limits are what the device can have at once, where it tells.
	Limits *RDMALimits `json:"limits,omitzero" native:"optional"`
	// Holder is the process that has the device open, where the system tells.
	Holder string `json:"holder,omitzero" native:"optional"`

	Unknown Reasons `json:"unknown,omitzero"`
}

// RDMALimits are how many of each a device can have at once, of all processes.
type RDMALimits struct {
	QueuePairs        int `json:"queue_pairs" toml:"queue_pairs"`
	CompletionQueues  int `json:"completion_queues" toml:"completion_queues"`
	MemoryRegions     int `json:"memory_regions" toml:"memory_regions"`
	ProtectionDomains int `json:"protection_domains" toml:"protection_domains"`
}

// GID is one entry of a port's table: an address of 128 bits, written as IPv6.
type GID struct {
	Index   int        `json:"index"`
	Address netip.Addr `json:"address"`
}

// IPv4 returns the IPv4 address in an IPv4-mapped GID (::ffff:a.b.c.d). JACCL
// connects through such a GID and refuses a device that has none.
func (g GID) IPv4() (netip.Addr, bool) {
	if !g.Address.Is4In6() {
		return netip.Addr{}, false
	}
	return g.Address.Unmap(), true
}
