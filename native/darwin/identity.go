package darwin

import (
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"fulmen/native"
)

// identity reads who the machine is. The names are those that Apple documents
// and recordings of sysctl -a show: hw.model is "Mac15,14", the brand string
// "Apple M3 Ultra".
func identity(s sysctl, hostName func() (string, error)) *native.Identity {
	// Every Mac that this runs on is Apple silicon.
	id := native.Identity{OSName: "macOS", Architecture: "arm64", GPUMemory: native.GPUMemoryUnified}
	if name, err := hostName(); err != nil {
		id.Unknown.Add("name", native.ReasonReadFailed.With(err.Error()))
		id.Unknown.Add("host_name", native.ReasonReadFailed.With(err.Error()))
	} else {
		id.Name, id.HostName = shortName(name), shortName(name)
	}
	text(s, &id.Model, &id.Unknown, "model", "hw.model")
	text(s, &id.Chip, &id.Unknown, "chip", "machdep.cpu.brand_string")
	setVersion(s, &id)
	text(s, &id.OSBuild, &id.Unknown, "os_build", "kern.osversion")
	text(s, &id.BootID, &id.Unknown, "boot_id", "kern.bootsessionuuid")
	count(s, &id.CPUCores, &id.Unknown, "cpu_cores", "hw.physicalcpu")
	cores(s, &id)
	booted(s, &id)
	return &id
}

// identity adds what the registry and SystemConfiguration know to what sysctl
// tells.
func (m *machine) identity() *native.Identity {
	id := identity(m.kernel, m.hostName)
	if store, err := m.frameworks.Store(); err == nil {
		setName(&id.Name, listText(store["Setup:/System"], "ComputerName"), &id.Unknown, "name")
		setName(&id.HostName, listText(store["Setup:/Network/HostNames"], "LocalHostName"), &id.Unknown, "host_name")
	}
	product, err := m.frameworks.At("IODeviceTree:/product", "product-name")
	setRead(product, err, func(e *entry) bool {
		id.ModelName = dataText(e.properties["product-name"])
		return id.ModelName != ""
	}, &id.Unknown, "model_name")
	platform, err := m.frameworks.Services("IOPlatformExpertDevice", "IOPlatformUUID")
	setRead(platform, err, func(e *entry) bool {
		uuid, ok := e.text("IOPlatformUUID")
		if ok {
			id.HardwareID = "platform-uuid:" + uuid
		}
		return ok
	}, &id.Unknown, "hardware_id")
	gpu, err := m.gpu("gpu-core-count")
	setRead(gpu, err, func(e *entry) bool {
		n, ok := e.number("gpu-core-count")
		if ok = ok && n > 0; ok {
			id.GPUCores = new(int(n))
		}
		return ok
	}, &id.Unknown, "gpu_cores")
	return id
}

// setName replaces a name by one that people gave, where they did.
func setName(field *string, given string, unknown *native.Reasons, key string) {
	if given != "" {
		*field = given
		delete(*unknown, key)
	}
}

// setRead takes a fact from the first entry that has it, or says why it is absent.
func setRead(found []entry, err error, take func(*entry) bool, unknown *native.Reasons, field string) {
	if err != nil {
		unknown.Add(field, whyNot(err))
		return
	}
	for i := range found {
		if take(&found[i]) {
			return
		}
	}
	unknown.Add(field, native.ReasonSourceGone.With("the registry does not say"))
}

// cores counts the fastest kind of core, level 0, and all others.
func cores(s sysctl, id *native.Identity) {
	count(s, &id.CPUPerformanceCores, &id.Unknown, "cpu_performance_cores", "hw.perflevel0.physicalcpu")
	if id.CPUCores == nil || id.CPUPerformanceCores == nil || *id.CPUPerformanceCores > *id.CPUCores {
		id.Unknown.Add("cpu_efficiency_cores", native.ReasonReadFailed.With("hw.physicalcpu and hw.perflevel0.physicalcpu"))
		return
	}
	slower := *id.CPUCores - *id.CPUPerformanceCores
	id.CPUEfficiencyCores = &slower
}

// booted reads kern.boottime, a struct timeval: seconds and microseconds.
func booted(s sysctl, id *native.Identity) {
	raw, err := s.Raw("kern.boottime")
	if err != nil {
		id.Unknown.Add("booted_at", reason("kern.boottime", err))
		return
	}
	if len(raw) < 8 || binary.LittleEndian.Uint64(raw) > 1<<40 {
		id.Unknown.Add("booted_at", native.ReasonSourceMalformed.With("kern.boottime"))
		return
	}
	id.BootedAt = native.Stamp(time.Unix(int64(binary.LittleEndian.Uint64(raw)), 0))
}

// shortName is a host's name without its domain.
func shortName(name string) string {
	short, _, _ := strings.Cut(name, ".")
	return short
}

// isStudio reports whether a model is a Mac Studio, whose back is known: the
// Ethernet socket is right of the receptacles.
func isStudio(model string) bool {
	return slices.Contains([]string{"Mac13,1", "Mac13,2", "Mac14,13", "Mac14,14", "Mac15,14", "Mac16,9"}, model)
}
