package simmac

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"

	"fulmen/native"
)

// Services makes the plane of services: one tree for each receptacle, the GPU,
// the machine itself.
func Services(s native.Snapshot) *Node {
	root := &Node{}
	if t := s.Thunderbolt; t != nil {
		for _, p := range t.Ports {
			addController(root, p, s)
		}
	}
	if n := s.Network; n != nil {
		for _, i := range n.Interfaces {
			if i.Type == native.InterfaceEthernet || i.Type == native.InterfaceWiFi {
				driver := root.Add("AppleEthernetDriver", "driver-"+i.Name, "", map[string]any{"IOLinkSpeed": speedOf(i)})
				driver.Add("IOEthernetInterface", i.Name, "", map[string]any{"BSD Name": i.Name})
			}
		}
	}
	platform := map[string]any{}
	if s.Identity != nil && s.Identity.HardwareID != "" {
		platform["IOPlatformUUID"] = s.Identity.HardwareID
	}
	root.Add("IOPlatformExpertDevice", "platform", "", platform)
	return root
}

func speedOf(i native.Interface) int64 {
	if i.SpeedBitsPerS == nil {
		return 0
	}
	return *i.SpeedBitsPerS
}

// DeviceTree makes the plane of the device tree: places on the case, the
// firmware's variables, the product.
func DeviceTree(s native.Snapshot) *Node {
	root := &Node{}
	options := map[string]any{}
	if s.RDMA != nil && s.RDMA.Switch != native.RDMAOff && s.RDMA.Switch != "" {
		options["rdma-enable"] = []byte("1")
	}
	root.Add("IODTNVRAM", "options", "", options)
	product := map[string]any{}
	if s.Identity != nil && s.Identity.ModelName != "" {
		product["product-name"] = append([]byte(s.Identity.ModelName), 0)
	}
	root.Add("IOService", "product", "", product)
	if s.Thunderbolt != nil {
		for _, p := range s.Thunderbolt.Ports {
			if p.Place != "" {
				root.Add("IOService", fmt.Sprintf("hpm%d", p.PortNumber-1), "", map[string]any{
					"port-location": append([]byte(p.Place), 0), "acio-parent": handle(p.PortNumber),
				})
			}
		}
	}
	return root
}

// handle is a receptacle's in the device tree.
func handle(portNumber int) []byte {
	return binary.LittleEndian.AppendUint32(nil, uint32(0x100+portNumber))
}

// generation is what a port's capability looks like in the registry: the number
// in class names, the router's version, the mask of speeds.
type generation struct {
	class   string
	version uint32
	speeds  uint32
}

func generationOf(v native.ThunderboltVersion) generation {
	switch v {
	case native.TB5:
		return generation{"Type7", native.RouterUSB4v2, 14}
	case native.TB3:
		return generation{"Type3", native.RouterTB3, 12}
	}
	return generation{"Type5", native.RouterUSB4v1, 12}
}

func addController(root *Node, p native.Port, s native.Snapshot) {
	g, n := generationOf(p.Capability), p.PortNumber
	acio := root.Add("AppleARMIODevice", fmt.Sprintf("acio%d", n-1), strconv.FormatInt(int64(n)<<24, 16), map[string]any{"AAPL,phandle": handle(n)})
	hal := acio.Add("AppleThunderboltHAL"+g.class, "AppleThunderboltHAL"+g.class, "", nil)
	nhi := hal.Add("AppleThunderboltNHI"+g.class, "AppleThunderboltNHI"+g.class, "", nil)
	controller := nhi.Add("IOThunderboltController"+g.class, "IOThunderboltController"+g.class, "", nil)
	local := controller.Add("IOThunderboltLocalNode", "IOThunderboltLocalNode", "", map[string]any{"Domain UUID": p.DomainUUID})
	addInterface(local, p, s)
	nhiPort := controller.Add("IOThunderboltPort", "IOThunderboltPort", "7", map[string]any{
		"Adapter Type": 2, "Description": "Thunderbolt Native Host Interface Adapter", "Port Number": 7,
	})
	router := nhiPort.Add("IOThunderboltSwitch"+g.class, "IOThunderboltSwitch"+g.class, "0", map[string]any{
		"Depth": 0, "Route String": 0, "Thunderbolt Version": g.version, "Device Vendor Name": "Apple, Inc.", "Device Model Name": "iOS",
		"Max Port Number": 11, "Upstream Port Number": 7, "UID": int64(-9000000000000000000) + int64(n),
	})
	first := lane(p.Negotiated, 1)
	first["Socket ID"], first["Supported Link Speed"] = strconv.Itoa(n), g.speeds
	port := router.Add("IOThunderboltPort", "IOThunderboltPort", "1", first)
	second := lane(p.Negotiated, 2)
	second["Socket ID"], second["Supported Link Speed"], second["Link Bandwidth"] = strconv.Itoa(n), g.speeds, 0
	router.Add("IOThunderboltPort", "IOThunderboltPort", "2", second)
	router.Add("IOThunderboltPort", "IOThunderboltPort", "3", map[string]any{"Adapter Type": 0x100101, "Description": "PCIe Adapter", "Port Number": 3})
	addBelow(port, "", p)
}

// addInterface adds the network side of a receptacle, with its RDMA device.
func addInterface(local *Node, p native.Port, s native.Snapshot) {
	status := 1 // valid; with a peer, active too
	if p.Status == native.PortPeer {
		status = 3
	}
	service := local.Add("AppleThunderboltIPService", "AppleThunderboltIPService", "", nil)
	ip := service.Add("AppleThunderboltIPPort", "AppleThunderboltIPPort", "", map[string]any{
		"IOLocation": strconv.Itoa(p.PortNumber), "IOLinkStatus": status, "IOLinkSpeed": int64(80_000_000_000),
	})
	if p.Interface == "" {
		return
	}
	own := ip.Add("IOEthernetInterface", p.Interface, "", map[string]any{"BSD Name": p.Interface})
	if s.RDMA == nil {
		return
	}
	i := slices.IndexFunc(s.RDMA.Devices, func(d native.RDMADevice) bool { return d.Interface == p.Interface })
	if i < 0 {
		return
	}
	state := 0
	if s.RDMA.Devices[i].PortState == native.RDMAPortActive {
		state = 2
	}
	own.Add("AppleThunderboltRDMAInterface", s.RDMA.Devices[i].Name, "", map[string]any{
		"IOPowerManagement": map[string]any{"CurrentPowerState": state, "MaxPowerState": 2}, "node_type": 100, "driver_id": 21,
	})
}

// addBelow hangs the hubs and peers of one route below a port: hubs first, each
// on a port of its own, for a route is a list of ports.
func addBelow(port *Node, route string, p native.Port) {
	for _, h := range p.Hubs {
		if h.Parent != route {
			continue
		}
		// A host has one lane pair, a hub a port for everything that hangs from it.
		on := port
		if route != "" {
			on = downstream(port, h.Route, h.Negotiated)
		}
		number, err := strconv.ParseInt(h.Route, 0, 64)
		if err != nil {
			continue
		}
		router := on.Add("IOThunderboltSwitchIntelJHL9580", "IOThunderboltSwitchIntelJHL9580", h.Route, map[string]any{
			"Depth": depth(number), "Route String": number, "Thunderbolt Version": native.RouterUSB4v2, "Upstream Port Number": 1,
		})
		setText(router, "Device Vendor Name", h.Vendor)
		setText(router, "Device Model Name", h.Name)
		router.Add("IOThunderboltPort", "IOThunderboltPort", "1", lane(h.Negotiated, 1))
		addBelow(router, h.Route, p)
	}
	for i, peer := range p.Peers {
		if peer.Hub != route {
			continue
		}
		on := port
		if route != "" {
			on = downstream(port, fmt.Sprintf("peer%d", i), peer.Negotiated)
		}
		// A different computer is another node, not a changed one.
		link := on.Add("IOThunderboltXDomainLink", "IOThunderboltXDomainLink", peer.DomainUUID, map[string]any{"Max Hop ID": 15})
		setText(link, "Domain UUID", peer.DomainUUID)
		setText(link, "Device Name", peer.Name)
		setText(link, "Vendor Name", peer.Vendor)
		for _, service := range peer.Services {
			of := link.Add("IOThunderboltXDomainService", "IOThunderboltXDomainService", strconv.Itoa(int(service.ProtocolID)), map[string]any{
				"Protocol ID": service.ProtocolID, "Protocol Version": service.Version,
			})
			if service.ProtocolID == native.ProtocolRDMA {
				of.Add("AppleThunderboltRDMAPeerInterface", "AppleThunderboltRDMAPeerInterface", "", nil)
			}
		}
	}
}

// downstream is a port of a hub.
func downstream(hub *Node, location string, link *native.Link) *Node {
	return hub.Add("IOThunderboltPort", "IOThunderboltPort", location, lane(link, 1))
}

func depth(route int64) int {
	n := 0
	for ; route != 0; route >>= 8 {
		n++
	}
	return n
}

func setText(n *Node, key, value string) {
	if value != "" {
		n.Properties[key] = value
	}
}

// lane is one of the two lanes that a cable trains. The bandwidth beside speed and
// width is what a real registry prints, whatever it means.
func lane(link *native.Link, number int) map[string]any {
	p := map[string]any{
		"Adapter Type": 1, "Description": "Thunderbolt Port", "Port Number": number, "Lane": number,
		"Dual-Link Port": 3 - number, "Current Link Speed": 0, "Current Link Width": 0, "Link Bandwidth": 100,
	}
	if link == nil || link.State != native.LinkUp {
		return p
	}
	p["Current Link Speed"] = map[native.Generation]uint32{
		native.Gen2: native.LaneCode10G, native.Gen3: native.LaneCode20G, native.Gen4: native.LaneCode40G,
	}[link.Generation]
	p["Current Link Width"] = map[[2]int]uint32{
		{1, 1}: native.WidthSingle, {2, 2}: native.WidthDual, {3, 1}: native.Width3Tx1Rx, {1, 3}: native.Width1Tx3Rx,
	}[[2]int{link.TxLanes, link.RxLanes}]
	p["Link Bandwidth"] = link.RxBitsPerS / 100_000_000
	return p
}
