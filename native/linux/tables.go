package linux

import "net/netip"

// tables is what the kernel's routing socket tells in one dump. The JSON form
// is that of recordings.
type tables struct {
	Links     []link    `json:"links"`
	Addresses []address `json:"addresses"`
	Defaults  []route   `json:"defaults"`
}

// link is one RTM_NEWLINK.
type link struct {
	Index    int    `json:"index"`
	Name     string `json:"name"`
	Alias    string `json:"alias,omitzero"`
	Kind     string `json:"kind,omitzero"` // "bridge", "veth"; "" for hardware
	Hardware int    `json:"hardware"`      // ARPHRD_*
	Flags    uint32 `json:"flags"`         // IFF_*
	MTU      int64  `json:"mtu"`
	Master   int    `json:"master,omitzero"`  // index of the bridge or bond above it
	Address  string `json:"address,omitzero"` // colon form; "" where it has none
}

// address is one RTM_NEWADDR.
type address struct {
	Index    int          `json:"index"` // of its link
	Address  netip.Prefix `json:"address"`
	Flags    uint32       `json:"flags,omitzero"`    // IFA_F_*
	Protocol uint8        `json:"protocol,omitzero"` // IFAPROT_*; 0 before Linux 5.18
	// Label is IFA_LABEL: the interface's name, or what somebody called the address.
	Label string `json:"label,omitzero"`
	// Lifetime is how long it stays valid, in seconds; 0 is for ever.
	Lifetime uint32 `json:"lifetime,omitzero"`
}

// route is one RTM_NEWROUTE of a default route in the main table.
type route struct {
	IPv6   bool   `json:"ipv6,omitzero"`
	Index  int    `json:"index"` // of the link it leaves by
	Metric uint32 `json:"metric,omitzero"`
}

// family is 4 or 6.
func (r route) family() int {
	if r.IPv6 {
		return 6
	}
	return 4
}

// Flags of linux/if.h and linux/if_addr.h. They are spelled out because the
// recordings are read on other systems too.
const (
	iffUp       uint32 = 1 << 0
	iffLoopback uint32 = 1 << 3
	iffLowerUp  uint32 = 1 << 16

	ifaTemporary  uint32 = 0x01
	ifaTentative  uint32 = 0x40
	ifaManageTemp uint32 = 0x100

	protocolKernelRA uint8 = 2
	protocolKernelLL uint8 = 3

	hardwareEther    = 1
	hardwareLoopback = 772
)
