package scenario

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"fulmen/native"
	"fulmen/native/tomltext"
)

// readMac reads one [[mac]] of the scenario of that name, which may be like one
// of the known Macs.
func readMac(t *table, scenario string, known map[string]map[string]any) Mac {
	m := Mac{Name: readName(t, "studio-1")}
	if m.Name != "" {
		t.label = "mac " + m.Name
	}
	t.applyModel(known)
	m.Identity = readIdentity(t, scenario, m.Name)
	m.MemoryBytes = parsed(t, "memory", ParseSize)
	m.GPUWorkingSetBytes = parsed(t, "gpu_working_set", ParseSize)
	m.UsedBytes = parsed(t, "used", ParseSize)
	m.Pressure = oneOf(t, "pressure", native.PressureNormal, pressures()...)
	m.ThermalState = oneOf(t, "thermal", native.ThermalNominal, thermalStates()...)
	m.PowerSource = oneOf(t, "power", native.PowerAC, powerSources()...)
	m.LowPowerMode = t.isTrue("low_power")
	m.LidClosed = oneOf(t, "lid", "open", "open", "closed") == "closed"
	if value, ok := t.lookup("battery"); ok {
		charge, isFloat := value.(float64)
		if !isFloat || !(charge >= 0 && charge <= 1) {
			t.fail("battery", "battery = %s is not a charge from 0.0 to 1.0", show(value))
		}
		m.BatteryRatio = &charge
	}
	m.GPUUseRatio = readLoad(t, keyGPUUse)
	m.SystemPowerWatts = readLoad(t, keyWatts)
	m.GPUTemperatureCelsius = readLoad(t, keyCelsius)
	m.RDMA = oneOf(t, "rdma", native.RDMAOff, rdmaSwitches()...)
	m.OSCapable = hasRDMADriver(m.Identity.OSVersion)
	if reported := t.flag("rdma_driver"); reported != nil {
		m.OSCapable = *reported
	}
	m.RDMALimits = readLimits(t)
	m.Jobs = readJobs(t)
	m.Ports = readPorts(t, scenario, m.Name)
	m.Interfaces = readInterfaces(t, m.Ports)
	m.Bridges = readBridges(t)
	t.done()
	return m
}

func readName(t *table, example string) string {
	name := t.required("name", strconv.Quote(example))
	if name == "" {
		return ""
	}
	if err := checkName(name); err != nil {
		t.fail("name", "%s", err)
		return ""
	}
	return name
}

func readIdentity(t *table, scenario, name string) native.Identity {
	id := native.Identity{
		Name:                cmp.Or(t.text("display_name"), name),
		HostName:            cmp.Or(t.text("host_name"), name),
		Model:               t.text("model"),
		ModelName:           t.text("model_name"),
		Chip:                t.text("chip"),
		OSName:              cmp.Or(t.text("os_name"), "macOS"),
		Architecture:        cmp.Or(t.text("architecture"), "arm64"),
		CPUCores:            t.count("cpu_cores"),
		CPUPerformanceCores: t.count("performance_cores"),
		CPUEfficiencyCores:  t.count("efficiency_cores"),
		GPUCores:            t.count("gpu_cores"),
		GPUMemory:           oneOf(t, "gpu_memory", "", native.GPUMemoryUnified, native.GPUMemoryDedicated, native.GPUMemoryNone),
		HardwareID:          "scenario:" + MakeUUID(scenario, name),
	}
	if id.GPUMemory == "" && strings.HasPrefix(id.Chip, "Apple ") {
		id.GPUMemory = native.GPUMemoryUnified
	}
	os := parsed(t, "os", func(text string) (parts [2]string, err error) {
		parts[0], parts[1], err = ParseOS(text)
		return parts, err
	})
	id.OSVersion, id.OSBuild = os[0], os[1]
	return id
}

// hasRDMADriver is whether that version of macOS has RDMA over Thunderbolt: the
// driver came with 26.2.
func hasRDMADriver(version string) bool {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	first, _ := strconv.Atoi(major)
	second, _ := strconv.Atoi(minor)
	return first > 26 || first == 26 && second >= 2
}

// readLimits reads what an RDMA device can have, all of it or nothing.
func readLimits(t *table) *native.RDMALimits {
	const key = "rdma_limits"
	value, ok := t.lookup(key)
	if !ok {
		return nil
	}
	values, isTable := value.(map[string]any)
	if !isTable {
		t.fail(key, "%s = %s is not a table such as { queue_pairs = 10, completion_queues = 11, memory_regions = 100, protection_domains = 11 }", key, show(value))
		return nil
	}
	l := newTable(tomltext.Join(t.path, key), t.prefix()+key, values, t.problems)
	var limits native.RDMALimits
	for name, into := range map[string]*int{
		"queue_pairs": &limits.QueuePairs, "completion_queues": &limits.CompletionQueues,
		"memory_regions": &limits.MemoryRegions, "protection_domains": &limits.ProtectionDomains,
	} {
		if _, is := l.lookup(name); !is {
			l.fail("", "%s is missing; a device has all four", name)
		} else if n := l.whole(name, 1, math.MaxInt32); n != nil {
			*into = int(*n)
		}
	}
	l.done()
	return &limits
}

// readJobs reads whom the Mac lends itself to: a word or a list of accounts,
// which the scenario holds as one text, separated by commas.
func readJobs(t *table) string {
	value, ok := t.lookup("jobs")
	if !ok {
		return "nobody"
	}
	if _, isList := value.([]any); isList {
		return strings.Join(t.texts("jobs"), ",")
	}
	return oneOf(t, "jobs", "nobody", "nobody", "mapped")
}

func readPorts(t *table, scenario, mac string) []Port {
	var ports []Port
	for _, p := range t.merged("port", "port", "receptacle") {
		port := Port{
			Place:          p.text("place"),
			BesideEthernet: p.isTrue("beside_ethernet"),
			Capability:     requiredOneOf(p, "capability", native.TB3, native.TB4, native.TB5),
			DomainUUID:     p.text("domain_uuid"),
			Interface:      p.text("interface"),
		}
		number := p.whole("receptacle", 1, maxPortNumber)
		p.done()
		if number == nil {
			if _, ok := p.lookup("receptacle"); !ok {
				p.fail("", "receptacle is missing; write its number, for example receptacle = 1")
			}
			continue
		}
		port.PortNumber = int(*number)
		if slices.ContainsFunc(ports, func(q Port) bool { return q.PortNumber == port.PortNumber }) {
			p.fail("receptacle", "receptacle %d is described twice", port.PortNumber)
			continue
		}
		if port.DomainUUID == "" {
			port.DomainUUID = MakeUUID(scenario, mac, strconv.Itoa(port.PortNumber))
		}
		ports = append(ports, port)
	}
	slices.SortFunc(ports, func(a, b Port) int { return a.PortNumber - b.PortNumber })
	return ports
}

// readInterfaces reads the interfaces and adds those of ports that the file
// does not describe further.
func readInterfaces(t *table, ports []Port) []Interface {
	var interfaces []Interface
	known := func(name string) bool {
		return slices.ContainsFunc(interfaces, func(i Interface) bool { return i.Name == name })
	}
	for _, i := range t.merged("interface", "interface", "name") {
		read := readInterface(i, ports)
		switch {
		case read.Name == "":
		case known(read.Name):
			i.fail("name", "interface %s is described twice", read.Name)
		default:
			interfaces = append(interfaces, read)
		}
	}
	for _, port := range ports {
		if port.Interface != "" && !known(port.Interface) {
			interfaces = append(interfaces, portInterface(port))
		}
	}
	return interfaces
}

// portInterface is a port's interface as it is where nothing else is said.
func portInterface(port Port) Interface {
	return Interface{
		Name: port.Interface, Type: native.InterfaceThunderbolt, LinkUp: true, MTUBytes: 1500,
		DisplayName: "Thunderbolt " + strconv.Itoa(port.PortNumber),
	}
}

func readInterface(t *table, ports []Port) Interface {
	name := t.required("name", `"en0"`)
	if name != "" {
		t.label = strings.TrimRight(t.label, " 0123456789") + " " + name
		if err := checkInterfaceName(name); err != nil {
			t.fail("name", "%s", err)
		}
	}
	// A port's interface starts as every such interface is.
	otherwise := Interface{Name: name, MTUBytes: 1500, LinkUp: true}
	if i := slices.IndexFunc(ports, func(p Port) bool { return p.Interface == name }); i >= 0 && name != "" {
		otherwise = portInterface(ports[i])
	}
	types := []native.InterfaceType{native.InterfaceWiFi, native.InterfaceEthernet, native.InterfaceThunderbolt,
		native.InterfaceVPN, native.InterfaceLoopback, native.InterfaceUnknown}
	if otherwise.Type == "" {
		requiredOneOf(t, "type", types...)
	}
	read := Interface{
		Name:          name,
		Type:          oneOf(t, "type", otherwise.Type, types...),
		DisplayName:   cmp.Or(t.text("display_name"), otherwise.DisplayName),
		Addresses:     readAddresses(t),
		Network:       t.text("network"),
		LinkUp:        oneOf(t, "link", "up", "up", "down") == "up",
		MTUBytes:      otherwise.MTUBytes,
		SpeedBitsPerS: parsed(t, "speed", native.ParseLinkSpeed).TxBitsPerS,
		Expensive:     t.isTrue("expensive"),
		Service:       t.text("service"),
	}
	if mtu := t.whole("mtu", 68, 65535); mtu != nil {
		read.MTUBytes = *mtu
	}
	t.done()
	return read
}

func readAddresses(t *table) []native.InterfaceAddress {
	var addresses []native.InterfaceAddress
	for i, text := range t.texts("addresses") {
		address, err := ParseAddress(text)
		if err != nil {
			t.problems.add(tomltext.Join(t.path, "addresses")+"["+strconv.Itoa(i)+"]", "%s%s", t.prefix(), err)
			continue
		}
		addresses = append(addresses, address)
	}
	return addresses
}

func readBridges(t *table) []Bridge {
	var bridges []Bridge
	for _, b := range t.tables("bridge", "bridge") {
		bridge := Bridge{Name: b.required("name", `"bridge0"`), Members: b.texts("members"), Addresses: readAddresses(b)}
		if err := checkInterfaceName(bridge.Name); bridge.Name != "" && err != nil {
			b.fail("name", "%s", err)
		}
		b.done()
		bridges = append(bridges, bridge)
	}
	return bridges
}

// The transports of a measured path.
const (
	TransportRDMA   = "rdma"
	TransportSocket = "socket"
)

// Measurements are recorded numbers, each of real machines like the simulated
// ones. Nothing is interpolated: what is not here is not known.
type Measurements struct {
	GPUs  []GPUMeasurement
	Links []LinkMeasurement
}

// GPUMeasurement is a Mac's GPU; a 0 is not recorded.
type GPUMeasurement struct {
	Mac             string
	FP16TFLOPS      float64
	MemoryBytesPerS float64
}

// LinkMeasurement is a path between two Macs.
type LinkMeasurement struct {
	// From and To are Macs; of a file's, neither may be named, for every two.
	From, To string
	// Transport is [TransportRDMA] or [TransportSocket].
	Transport string
	// Over is the cable's receptacle at From ("tb4") for a path over
	// Thunderbolt, or the network's name.
	Over string
	// UpBitsPerS is from From to To, DownBitsPerS back; 0: not recorded.
	UpBitsPerS   float64
	DownBitsPerS float64
	// RTTUS is the round trip in microseconds, JitterUS its mean change from one
	// to the next; 0: not recorded.
	RTTUS    float64
	JitterUS float64
}

func readGPU(t *table) GPUMeasurement {
	gpu := GPUMeasurement{
		Mac:             t.required("mac", `"studio-1"`),
		FP16TFLOPS:      t.number("fp16_tflops"),
		MemoryBytesPerS: t.number("memory_bytes_per_s"),
	}
	t.done()
	return gpu
}

func readLink(t *table) LinkMeasurement {
	rate := func(key string) float64 {
		return float64(parsed(t, key, native.ParseLinkSpeed).TxBitsPerS)
	}
	link := LinkMeasurement{
		From:         t.text("from"),
		To:           t.text("to"),
		Transport:    requiredOneOf(t, "transport", TransportRDMA, TransportSocket),
		Over:         t.required("over", `"tb1" or a network's name`),
		UpBitsPerS:   rate("up"),
		DownBitsPerS: rate("down"),
		RTTUS:        t.number("rtt_us"),
		JitterUS:     t.number("jitter_us"),
	}
	if (link.From == "") != (link.To == "") {
		t.fail("", "from and to belong together; name two Macs, or none where it is measured of every two")
	}
	t.done()
	return link
}
