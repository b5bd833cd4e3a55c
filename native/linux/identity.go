package linux

import (
	"runtime"
	"strings"
	"time"

	"fulmen/native"
)

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
