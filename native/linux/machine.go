package linux

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"fulmen/native"
)

// platformName is what every document of this platform calls itself.
const platformName = "linux"

// machine answers native.Facts from the files of a tree and the kernel's tables
// of links.
type machine struct {
	tree  tree
	clock native.Clock
	// links dumps the kernel's interfaces, addresses and default routes.
	links func() (tables, error)
	// mayChange says why the network cannot be changed; empty where it can. It is nil
	// where nothing changes it.
	mayChange func() native.Reason
	// devices are those behind the interfaces.
	devices devices
	// sources are what announces changes.
	sources []hintSource

	stalls stalls

	system sampler

	mu      sync.Mutex
	closed  bool
	watches []*watch
}

// Snapshot reads the areas.
func (m *machine) Snapshot(ctx context.Context, areas ...native.Area) (native.Snapshot, error) {
	s := native.Snapshot{At: native.Stamp(m.clock.Now()), Platform: platformName}
	if err := m.usable(ctx); err != nil {
		return native.Snapshot{}, err
	}
	for _, area := range slices.Compact(slices.Sorted(slices.Values(areas))) {
		m.read(&s, area)
		if err := m.usable(ctx); err != nil {
			return native.Snapshot{}, err
		}
	}
	return s, nil
}

func (m *machine) read(s *native.Snapshot, area native.Area) {
	switch area {
	case native.AreaIdentity:
		s.Identity = m.tree.identity()
	case native.AreaMemory:
		memory := m.tree.memory()
		m.setPressure(memory)
		s.Memory = memory
	case native.AreaSystem:
		s.System = m.system.read(m.tree, m.clock.Boot())
	case native.AreaNetwork:
		network, err := m.tree.network(m.links, &m.devices)
		if err != nil {
			s.Unknown.Add(string(area), native.ReasonReadFailed.With("rtnetlink: "+err.Error()))
			return
		}
		s.Network = network
	case native.AreaThunderbolt:
		thunderbolt, why := m.tree.thunderbolt()
		if s.Thunderbolt = thunderbolt; thunderbolt == nil {
			s.Unknown.Add(string(area), why)
		}
	case native.AreaRDMA:
		rdma, why := m.tree.rdma()
		if s.RDMA = rdma; rdma == nil {
			s.Unknown.Add(string(area), why)
		}
	default:
		s.Unknown.Add(string(area), native.ReasonNoPlatform.With("no such area"))
	}
}

// usable is nil as long as the platform may be asked.
func (m *machine) usable(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return native.ErrClosed
	}
	return ctx.Err()
}

// close ends every watch.
func (m *machine) close() error {
	m.mu.Lock()
	m.closed = true
	watches := slices.Clone(m.watches)
	m.mu.Unlock()
	var err error
	for _, w := range watches {
		err = errors.Join(err, w.stop())
	}
	return err
}

// forget drops a watch that has ended.
func (m *machine) forget(w *watch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watches = slices.DeleteFunc(m.watches, func(other *watch) bool { return other == w })
}

// Options says where to read. The zero value is this machine.
type Options struct {
	// Proc, Sys and Etc are the roots of what is otherwise /proc, /sys and /etc:
	// a recorded tree, or a host's folders inside a container. Interfaces and
	// addresses come from rtnetlink, devices are announced by uevents, and neither
	// follows them.
	Proc, Sys, Etc string
	// Units is the folder of the records of supervised units, private to one
	// daemon: a daemon removes units that it finds there and does not know. Empty
	// is /run/fulmen/units for root, else a folder below the account's runtime
	// folder.
	Units string
	// Clock is the clock of the platform; nil is [native.SystemClock].
	Clock native.Clock
}

func (o Options) withDefaults() (Options, error) {
	for _, root := range []struct {
		path *string
		own  string
	}{{&o.Proc, "/proc"}, {&o.Sys, "/sys"}, {&o.Etc, "/etc"}} {
		if *root.path == "" {
			*root.path = root.own
		}
	}
	if o.Clock != nil {
		return o, nil
	}
	var err error
	o.Clock, err = native.SystemClock()
	return o, err
}

const (
	dmi        = "sys/class/dmi/id/"
	deviceTree = "sys/firmware/devicetree/base/"
)

// fillers are what makers leave in DMI fields that they did not fill in, in
// lower case.
func fillers() []string {
	return []string{
		"", "to be filled by o.e.m.", "default string", "system product name", "system manufacturer", "system version",
		"none", "not specified", "not applicable", "n/a", "invalid", "o.e.m.", "oem", "unknown", "x.x", "0", "1.0",
	}
}

// dmiText reads a DMI field; one that the maker left as it was is absent, with
// its text in the reason.
func (t tree) dmiText(field string) (string, native.Reason) {
	text, err := t.text(dmi + field)
	if err != nil {
		return "", reason(field, err, native.ReasonNoHardware.With("neither DMI nor a device tree"))
	}
	if slices.Contains(fillers(), strings.ToLower(text)) {
		return "", native.ReasonSourceMalformed.With(field + ": " + malformedError(text).Error())
	}
	return text, ""
}

// setModel takes the device tree where there is one: it names the board that
// the kernel was written for. A machine without has DMI.
func (t tree) setModel(id *native.Identity) {
	if compatible := t.compatible(); len(compatible) > 0 {
		id.Model = compatible[0]
		id.ModelName, _ = t.text(deviceTree + "model")
		if id.ModelName == "" {
			id.Unknown.Add("model_name", native.ReasonNoOS.With("the device tree has no model"))
		}
		return
	}
	product, why := t.dmiText("product_name")
	if product == "" {
		id.Unknown.Add("model", why)
		id.Unknown.Add("model_name", why)
		return
	}
	id.Model, id.ModelName = product, product
	vendor, _ := t.dmiText("sys_vendor")
	// Lenovo writes a number into the name and the name into the version.
	if strings.EqualFold(vendor, "lenovo") {
		if name, _ := t.dmiText("product_version"); name != "" {
			id.ModelName = name
		}
	}
	if vendor != "" && !strings.HasPrefix(strings.ToLower(id.ModelName), strings.ToLower(vendor)) {
		id.ModelName = vendor + " " + id.ModelName
	}
}

// compatible lists what the device tree says the machine is, the board first
// and its chip last.
func (t tree) compatible() []string {
	text, err := t.text(deviceTree + "compatible")
	if err != nil || text == "" {
		return nil
	}
	return strings.Split(text, "\x00")
}

// setHardwareID takes the UUID that the maker gave the machine, which moves with
// it and not with its disk, and else the installation's own. Which one it is
// stands before it, so that the two are never taken for each other.
func (t tree) setHardwareID(id *native.Identity) {
	if uuid, _ := t.dmiText("product_uuid"); isOwnUUID(uuid) {
		id.HardwareID = "dmi:" + strings.ToLower(uuid)
		return
	}
	machine, err := t.text("etc/machine-id")
	switch {
	case err != nil:
		id.Unknown.Add("hardware_id", reason("machine-id", err, native.ReasonNoOS.With("neither product_uuid nor machine-id")))
	case len(machine) != 32 || strings.Trim(machine, "0123456789abcdef") != "":
		// "uninitialized" during the first boot, empty in an image.
		id.Unknown.Add("hardware_id", native.ReasonSourceMalformed.With("machine-id: "+malformedError(machine).Error()))
	default:
		id.HardwareID = "machine-id:" + machine
	}
}

// isOwnUUID reports whether a UUID can be one machine's: it is whole, and
// neither blank nor the one that a firmware's reference design ships with.
func isOwnUUID(uuid string) bool {
	digits := strings.ToLower(strings.ReplaceAll(uuid, "-", ""))
	if len(digits) != 32 || strings.Trim(digits, "0123456789abcdef") != "" {
		return false
	}
	return strings.Trim(digits, digits[:1]) != "" && digits != "03000200040005000006000700080009"
}

// identity says who and what the machine is.
func (t tree) identity() *native.Identity {
	id := &native.Identity{Architecture: t.architecture()}
	t.setNames(id)
	t.setSystem(id)
	t.setModel(id)
	t.setHardwareID(id)
	t.setCores(id)
	var why native.Reason
	if id.Chip, why = t.chip(); id.Chip == "" {
		id.Unknown.Add("chip", why)
	}
	id.Unknown.Add("gpu_cores", native.ReasonNoPlatform.With("Linux does not count them"))
	if id.Architecture == "amd64" {
		// No GPU that MLX can use on this architecture shares the memory.
		id.UnifiedMemory = new(false)
	} else {
		id.Unknown.Add("unified_memory", native.ReasonNoPlatform.With("a system on a chip may share its memory with its GPU; Linux does not say"))
	}
	return id
}

// architecture is the kernel's, which counts where the daemon was built for an
// older one; kernels before 6.1 do not have it in /proc.
func (t tree) architecture() string {
	arch, _ := t.text("proc/sys/kernel/arch")
	switch arch {
	case "x86_64":
		return "amd64"
	case "aarch64":
		return "arm64"
	case "":
		return runtime.GOARCH
	}
	return arch
}

// setNames takes the pretty name of machine-info(5) where its owner gave one.
func (t tree) setNames(id *native.Identity) {
	const file = "proc/sys/kernel/hostname"
	host, err := t.text(file)
	id.HostName, _, _ = strings.Cut(host, ".")
	why := native.ReasonSourceMalformed.With("the host name is empty")
	if err != nil {
		why = reason(file, err, native.ReasonNoOS)
	}
	if id.HostName == "" {
		id.Unknown.Add("host_name", why)
	}
	info, _ := t.bytes("etc/machine-info")
	if id.Name = parseShellVariables(info)["PRETTY_HOSTNAME"]; id.Name == "" {
		id.Name = id.HostName
	}
	if id.Name == "" {
		id.Unknown.Add("name", why)
	}
}

func (t tree) setSystem(id *native.Identity) {
	release, err := t.bytes("etc/os-release")
	why := native.ReasonNoOS.With("os-release does not say")
	if err != nil {
		why = reason("os-release", err, native.ReasonNoOS.With("no os-release"))
	}
	fields := parseShellVariables(release)
	if id.OSName = fields["NAME"]; id.OSName == "" {
		id.Unknown.Add("os_name", why)
	}
	// A rolling distribution has no version, but may have the date of its image.
	if id.OSVersion = fields["VERSION_ID"]; id.OSVersion == "" {
		id.OSVersion = fields["BUILD_ID"]
	}
	if id.OSVersion == "" {
		id.Unknown.Add("os_version", why)
	}
	t.set(id, "os_build", "proc/sys/kernel/osrelease", &id.OSBuild)
	t.set(id, "boot_id", "proc/sys/kernel/random/boot_id", &id.BootID)

	stat, err := t.bytes("proc/stat")
	times := parseStat(stat)
	switch {
	case err != nil:
		id.Unknown.Add("booted_at", reason("stat", err, native.ReasonNoOS))
	case times.bootedAt <= 0:
		id.Unknown.Add("booted_at", native.ReasonSourceMalformed.With("stat: no btime"))
	default:
		id.BootedAt = native.Stamp(time.Unix(times.bootedAt, 0))
	}
}

// set reads a file of one line into a field.
func (t tree) set(id *native.Identity, field, file string, value *string) {
	text, err := t.text(file)
	switch {
	case err != nil:
		id.Unknown.Add(field, reason(file, err, native.ReasonNoOS))
	case text == "":
		id.Unknown.Add(field, native.ReasonSourceMalformed.With(field+": empty"))
	default:
		*value = text
	}
}
