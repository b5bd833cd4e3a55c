package scenario

import "fulmen/native"

// Scenario is a simulated cluster as its file has it, checked.
type Scenario struct {
	// Name is the file's, without folder and ending: "mesh-4".
	Name string
	// Title is one line for people.
	Title string
	// Macs are in the file's order; at least one.
	Macs []Mac
	// Hubs are hubs and docks with receptacles of their own.
	Hubs []Hub
	// Networks join interfaces that are not joined by a cable.
	Networks []Network
	// Cables join receptacles of Macs and hubs.
	Cables []Cable
	// Measurements are what was measured on machines like these.
	Measurements Measurements
	// TimeLine is what happens by itself, in order of time.
	TimeLine []Event
	// Notes are for people: what recordings told and the scenario cannot hold.
	Notes []string
}

// Mac is one simulated Mac.
type Mac struct {
	// Name is a slug, unique among Macs and hubs: "studio-1".
	Name string
	// Identity is what the Mac says of itself; boot time and boot id are the
	// simulation's.
	Identity native.Identity
	// MemoryBytes is the unified memory, GPUWorkingSetBytes what a GPU program
	// may hold; UsedBytes is what is in use. 0: the scenario does not say.
	MemoryBytes        int64
	GPUWorkingSetBytes int64
	UsedBytes          int64
	// Pressure, ThermalState, PowerSource and the rest of the system begin so.
	Pressure     native.Pressure
	ThermalState native.ThermalState
	PowerSource  native.PowerSource
	BatteryRatio *float64 // nil: no battery
	LowPowerMode bool
	LidClosed    bool
	// GPUUseRatio (0 to 1), SystemPowerWatts and GPUTemperatureCelsius are what the
	// Mac does at the moment; nil: the scenario does not say.
	GPUUseRatio, SystemPowerWatts, GPUTemperatureCelsius *float64
	// RDMA is the Mac's switch; OSCapable is whether its system has the driver.
	RDMA      native.RDMASwitch
	OSCapable bool
	// RDMALimits are what each of its RDMA devices can have at once; nil: they do not tell.
	RDMALimits *native.RDMALimits `json:",omitempty"`
	// Ports are its receptacles, by number.
	Ports []Port
	// Interfaces are its network interfaces, those of ports included.
	Interfaces []Interface
	// Bridges are its software bridges with their members, such as bridge0.
	Bridges []Bridge
	// Jobs is whom it lends itself to: "nobody", "mapped", or accounts, separated
	// by commas.
	Jobs string
}

// Port is a Mac's receptacle.
type Port struct {
	PortNumber     int                       `toml:"receptacle"`
	Place          string                    `toml:"place,omitempty"`
	BesideEthernet bool                      `toml:"beside_ethernet,omitempty"`
	Capability     native.ThunderboltVersion `toml:"capability"`
	DomainUUID     string                    `toml:"domain_uuid,omitempty"` // made of scenario, Mac and receptacle where the file has none
	Interface      string                    `toml:"interface,omitempty"`   // "en5"
}

// Interface is a Mac's network interface.
type Interface struct {
	Name        string
	Type        native.InterfaceType
	DisplayName string
	Addresses   []native.InterfaceAddress
	// Network is the name of the network it is plugged into; "" for a port's,
	// which a cable joins.
	Network       string
	LinkUp        bool
	MTUBytes      int64
	SpeedBitsPerS int64 // 0: not told
	Expensive     bool
	// Service is the network service's name; "" where there is none.
	Service string
}

// Bridge is a Mac's software bridge.
type Bridge struct {
	Name    string   `toml:"name"`
	Members []string `toml:"members"` // interfaces, in kernel and stored configuration alike
	// Addresses are the bridge's own.
	Addresses []native.InterfaceAddress `toml:"-"`
}

// Hub is a hub or dock: one receptacle upstream, some downstream.
type Hub struct {
	Name       string                    `toml:"name"` // a slug
	Vendor     string                    `toml:"vendor,omitempty"`
	Product    string                    `toml:"product,omitempty"`
	Capability native.ThunderboltVersion `toml:"capability"`
	// Downstream is how many receptacles it has beside the upstream one.
	Downstream int `toml:"downstream"`
}

// Network is a LAN that interfaces are plugged into.
type Network struct {
	Name string
	Type native.InterfaceType // ethernet, wifi or vpn
	// Isolated networks let their members reach the outside and not each other.
	Isolated bool
}

// Cable joins two receptacles.
type Cable struct {
	Ends [2]End
	// Speed is what it negotiates from the first end to the second; zero: the
	// best that both ends can.
	Speed native.LinkSpeed
}

// End is a receptacle of a Mac or a hub. Written "studio-1.tb2", "dock.up",
// "dock.1".
type End struct {
	Owner string
	// PortNumber is a Mac's or a hub's downstream number from 1; 0 is a hub's
	// upstream side.
	PortNumber int
	// Hub is true where the owner is a hub.
	Hub bool
}
